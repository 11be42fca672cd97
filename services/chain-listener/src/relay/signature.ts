import { receiveWithAuthorizationTypedData, testUsdcAbi } from '@ponte/payment-router'
import { dataLength, Interface, verifyTypedData } from 'ethers'
import type { ChainClient } from '../rpc/chain-client'
import type { Authorization } from './store/authorization'

const usdc = new Interface(testUsdcAbi)

export interface TokenDomain {
  chainId: number
  usdcAddress: string
  name: string
  version: string
}

const DOUBTED_MS = 60_000

/**
 * The token's name and version, without which no signature can be judged; they differ between networks. They are one node's word: where a signature
 * does not fit them, they are asked for once more, at most once a minute.
 */
export function tokenDomain(chain: ChainClient, chainId: number, token: string, now: () => Date) {
  let known: Promise<TokenDomain> | undefined
  let askedAt = 0
  const text = async (method: 'name' | 'version') =>
    String(usdc.decodeFunctionResult(method, await chain.call({ to: token, data: usdc.encodeFunctionData(method) }))[0])
  const ask = async (): Promise<TokenDomain> => ({ chainId, usdcAddress: token, name: await text('name'), version: await text('version') })
  return ({ isDoubted = false } = {}): Promise<TokenDomain> => {
    if (known && !(isDoubted && now().getTime() - askedAt >= DOUBTED_MS)) return known
    const [before, at] = [known, askedAt]
    askedAt = now().getTime()
    known = ask()
    // No answer leaves everything as it was.
    known.catch(() => {
      known = before
      askedAt = at
    })
    return known
  }
}

type Signed = Pick<
  Authorization,
  'memo' | 'merchant' | 'router' | 'payer' | 'amountUnits' | 'validAfter' | 'validBefore' | 'salt' | 'signature'
>

/** True when the payer's own key made the signature, as the token will see it. A contract wallet's signature is for the chain to judge. */
export function isSignedByKey(signed: Signed, domain: TokenDomain): boolean {
  if (dataLength(signed.signature) !== 65) return false
  const { memo, merchant, router, payer, salt } = signed
  const typed = receiveWithAuthorizationTypedData({
    ...{ ...domain, memo, merchant, router, payer, salt, amount: signed.amountUnits },
    ...{ validAfter: BigInt(signed.validAfter), validBefore: BigInt(signed.validBefore) },
  })
  try {
    return verifyTypedData(typed.domain, typed.types, typed.message, signed.signature).toLowerCase() === payer
  } catch {
    // Not the form of a signature at all: an s in the upper half, or a v that is neither 27 nor 28.
    return false
  }
}

export async function balanceOf(chain: ChainClient, token: string, account: string): Promise<bigint> {
  return BigInt(await chain.call({ to: token, data: usdc.encodeFunctionData('balanceOf', [account]) }))
}
