import type { OrderBody } from '@ponte/contracts'
import { formatUsdc } from '@ponte/contracts'
import { receiveWithAuthorizationTypedData } from '@ponte/payment-router'
import { type HDNodeWallet, toBeHex, type Wallet } from 'ethers'
import type { World } from '../world'

/** A payer's signature for an order, as the body of the request; `payer` may be a wallet that is a contract. */
export async function signFor(world: World, order: OrderBody, signer: Wallet | HDNodeWallet, amount: bigint, payer = signer.address) {
  const { chainId, usdcAddress } = world.chain
  const validBefore = BigInt(Math.floor(Date.parse(order.expires_at) / 1_000))
  const salt = toBeHex(amount, 32)
  const { merchant_address: merchant, router_address: router } = order.payment
  const { domain, types, message } = receiveWithAuthorizationTypedData({
    ...{ chainId, usdcAddress, router, memo: order.memo, merchant, payer, amount, validBefore, salt },
  })
  const signature = await signer.signTypedData(domain, types, message)
  return { payer_address: payer, amount: formatUsdc(amount), valid_before: Number(validBefore), salt, signature }
}

/** Hands it in; answers the status. */
export async function handIn(world: World, order: OrderBody, body: object): Promise<number> {
  const response = await fetch(`${world.place.publicUrl}/api/v1/checkout/${order.id}/authorization`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return response.status
}
