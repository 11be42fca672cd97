import type { TypedDataDomain, TypedDataField } from 'ethers'
import { authorizationNonce } from './payment-terms'

/** EIP-712 typed data: give `domain`, `types` and `message` to `Signer.signTypedData`, or all of it to `eth_signTypedData_v4` after making bigints strings. */
export interface TypedData<Message> {
  domain: TypedDataDomain
  types: Record<string, TypedDataField[]>
  primaryType: string
  message: Message
}

/** The token whose signature it is. Circle's USDC calls itself "USD Coin" on some networks and "USDC" on others: read `name()` and `version()`. */
export interface TokenDomain {
  chainId: bigint | number
  usdcAddress: string
  name?: string
  version?: string
}

export interface PermitTerms extends TokenDomain {
  owner: string
  spender: string
  /** In token units (10⁻⁶). */
  value: bigint
  /** The token's `nonces(owner)`. */
  nonce: bigint
  /** Unix seconds. */
  deadline: bigint
}

export interface AuthorizationTerms extends TokenDomain {
  router: string
  memo: string
  merchant: string
  payer: string
  /** In token units (10⁻⁶), fee included. */
  amount: bigint
  /** Unix seconds; the block's time must be later. Zero by default. */
  validAfter?: bigint
  /** Unix seconds; the block's time must be earlier. */
  validBefore: bigint
  /** 0x and 64 hex, another one for each payment of the same payer for the same order. */
  salt: string
}

function domainOf(token: TokenDomain): TypedDataDomain {
  return { name: token.name ?? 'USD Coin', version: token.version ?? '2', chainId: token.chainId, verifyingContract: token.usdcAddress }
}

const uint256 = (name: string): TypedDataField => ({ name, type: 'uint256' })
const address = (name: string): TypedDataField => ({ name, type: 'address' })

const PERMIT = [address('owner'), address('spender'), uint256('value'), uint256('nonce'), uint256('deadline')]
const AUTHORIZATION = [
  address('from'),
  address('to'),
  uint256('value'),
  uint256('validAfter'),
  uint256('validBefore'),
  { name: 'nonce', type: 'bytes32' },
]

/** As EIP-3009 has the message of its signatures. */
interface Authorization {
  from: string
  to: string
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: string
}

/** Signed by the owner so that `payWithPermit` may take `value` (EIP-2612). */
export function permitTypedData(terms: PermitTerms): TypedData<Pick<PermitTerms, 'owner' | 'spender' | 'value' | 'nonce' | 'deadline'>> {
  const { owner, spender, value, nonce, deadline } = terms
  return { domain: domainOf(terms), types: { Permit: PERMIT }, primaryType: 'Permit', message: { owner, spender, value, nonce, deadline } }
}

/**
 * What the payer signs so that anyone may submit `payWithAuthorization(memo, merchant, amount, payer, validAfter, validBefore, salt, signature)`
 * for them (EIP-3009 `ReceiveWithAuthorization`, nonce = `authorizationNonce(memo, merchant, salt)`). Throws as `authorizationNonce` does.
 */
export function receiveWithAuthorizationTypedData(terms: AuthorizationTerms): TypedData<Authorization> {
  return {
    domain: domainOf(terms),
    types: { ReceiveWithAuthorization: AUTHORIZATION },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: terms.payer,
      to: terms.router,
      value: terms.amount,
      validAfter: terms.validAfter ?? 0n,
      validBefore: terms.validBefore,
      nonce: authorizationNonce(terms.memo, terms.merchant, terms.salt),
    },
  }
}

/** Signed by `from` so that anyone may submit `transferWithAuthorization` to the token for it (EIP-3009): the money goes to `to` and nowhere else. */
export function transferWithAuthorizationTypedData(terms: TokenDomain & Omit<Authorization, 'validAfter'>): TypedData<Authorization> {
  const { from, to, value, validBefore, nonce } = terms
  return {
    domain: domainOf(terms),
    types: { TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization',
    message: { from, to, value, validAfter: 0n, validBefore, nonce },
  }
}
