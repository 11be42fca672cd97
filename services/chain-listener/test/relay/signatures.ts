import { formatUsdc, type PaymentAuthorizationBody } from '@ponte/contracts'
import { receiveWithAuthorizationTypedData } from '@ponte/payment-router'
import { signCaller } from '@ponte/service-kit'
import { toBeHex, type Wallet } from 'ethers'
import type { Listening } from '../setup'
import { MERCHANT, type RelayWorld } from './relayer-setup'

export const AMOUNT = 10_000_000n
export const SHARE = 9_900_000n
export const SECRET = 'a-secret-of-thirty-two-characters-or-more'
/** Needed by a listener that takes signatures. */
export const TAKING = { GATEWAY_TOKEN_SECRET: SECRET, PORT: '0' }

export interface Signing {
  payer?: string
  merchant?: string
  amount?: bigint
  salt?: string
  validFor?: number
  validBefore?: bigint
}

/** A payer's signature for an order, as the body of the request; `payer` may be a wallet that is a contract of the signer. */
export async function signFor(world: RelayWorld, order: { memo: string }, signer: Wallet, signing: Signing = {}) {
  const { payer = signer.address, merchant = MERCHANT.address, amount = AMOUNT, salt = toBeHex(AMOUNT, 32), validFor = 1_500 } = signing
  const { chainId, usdcAddress, routerAddress: router } = world.chain
  const validBefore = signing.validBefore ?? BigInt(Math.floor(Date.now() / 1_000) + validFor)
  const { domain, types, message } = receiveWithAuthorizationTypedData({
    ...{ chainId, usdcAddress, router, memo: order.memo, merchant, payer, amount, validBefore, salt },
  })
  const signature = await signer.signTypedData(domain, types, message)
  return { payer_address: payer, amount: formatUsdc(amount), valid_after: 0, valid_before: Number(validBefore), salt, signature }
}

/** Hands a signature in as the gateway does. `at` is where signatures are taken; the listener by default. */
export async function authorize(
  world: RelayWorld,
  listening: Listening,
  order: { id: string; memo: string },
  signer: Wallet,
  signing: Signing = {},
  at = listening.listener.http?.port(),
): Promise<{ status: number; body: PaymentAuthorizationBody & { detail: string } }> {
  const body = JSON.stringify(await signFor(world, order, signer, signing))
  const token = signCaller({ kind: 'checkout' }, { secrets: [SECRET], audience: 'chain-listener' })
  const query = new URLSearchParams({ status: 'pending', due: formatUsdc(signing.amount ?? AMOUNT) })
  const url = `http://127.0.0.1:${at}/api/v1/checkout/${order.id}/authorization?${query}`
  const ask = () => fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body })
  let response = await ask()
  // On a busy machine the only node may be resting for a moment.
  await listening.until(async () => {
    if (response.status === 503) response = await ask()
    return response.status !== 503
  }, 'the chain was never asked')
  return { status: response.status, body: (await response.json()) as PaymentAuthorizationBody }
}
