import { transferWithAuthorizationTypedData } from '@ponte/payment-router'
import { Contract, verifyTypedData } from 'ethers'
import type { ChainReader } from './chain-reader'

/** The token's name and version, without which nothing can be signed; they differ between networks. */
export interface TokenName {
  name: string
  version: string
}

/** A transfer out of the merchant's wallet, as the wallet signs it (EIP-3009 `TransferWithAuthorization`). */
export interface ReturnTerms extends TokenName {
  chainId: number
  tokenAddress: string
  from: string
  to: string
  units: bigint
  /** Unix seconds. */
  validBefore: number
  nonce: string
}

const TOKEN = ['function name() view returns (string)', 'function version() view returns (string)']

/** Read once: it never changes. Rejects while no node can be asked. */
export function createTokenName(reader: ChainReader, token: string): () => Promise<TokenName> {
  let known: TokenName | undefined
  return async () => {
    known ??= await reader.ask(async provider => {
      const contract = new Contract(token, TOKEN, provider)
      const [name, version] = await Promise.all([contract.getFunction('name').staticCall(), contract.getFunction('version').staticCall()])
      return { name: String(name), version: String(version) }
    })
    return known
  }
}

const typedDataOf = ({ tokenAddress, units, validBefore, ...terms }: ReturnTerms) =>
  transferWithAuthorizationTypedData({ ...terms, usdcAddress: tokenAddress, value: units, validBefore: BigInt(validBefore) })

/** As `eth_signTypedData_v4` takes it: what JSON cannot hold is text. */
export function returnTypedData(terms: ReturnTerms) {
  const { types, primaryType, message } = typedDataOf(terms)
  return {
    domain: { name: terms.name, version: terms.version, chainId: terms.chainId, verifyingContract: terms.tokenAddress },
    types,
    primaryType,
    message: {
      ...message,
      value: String(message.value),
      validAfter: String(message.validAfter),
      validBefore: String(message.validBefore),
    },
  }
}

/** True when the key of `from` made the signature, as the token will see it. */
export function isSignedByOwner(terms: ReturnTerms, signature: string): boolean {
  const { domain, types, message } = typedDataOf(terms)
  try {
    return verifyTypedData(domain, types, message, signature).toLowerCase() === terms.from.toLowerCase()
  } catch {
    // Not the form of a signature at all: an s in the upper half, or a v that is neither 27 nor 28.
    return false
  }
}
