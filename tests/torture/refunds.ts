import { randomUUID } from 'node:crypto'
import type { List, OrderBody, RefundBody, RefundClaimBody, RefundListBody } from '@ponte/contracts'
import { formatUsdc } from '@ponte/contracts'
import { Wallet } from 'ethers'
import { units } from '../world'
import { type Driver, type Scene, walletsOf } from './steps'

/**
 * A merchant returns a part of what came for some order, to an account that is only this refund's, which the payer names by a link or the merchant. The wallet
 * signs, or the merchant thinks better of it; who has signed cannot take it back.
 */
export async function returnMoney(scene: Scene, { merchant, random }: Driver, signal: AbortSignal): Promise<void> {
  const { requests, answered, refunds, count } = scene
  const { api_key: apiKey } = merchant.body
  const closed = await requests.get<List<OrderBody>>(
    `/api/v1/orders?limit=20&status=${random.pick(['paid', 'paid', 'expired', 'cancelled'])}`,
    apiKey,
  )
  const own = (closed?.data ?? []).filter(({ id }) => answered.has(id))
  if (own.length === 0) return
  const order = random.pick(own)
  const found = await requests.get<RefundListBody>(`/api/v1/orders/${order.id}/refunds`, apiKey)
  // Half of it at most, for the platform has kept its fee.
  const amount = (units(found?.returnable ?? '0.000000') * BigInt(random.between(1, 50))) / 100n
  if (amount === 0n) return
  const payee = Wallet.createRandom().address
  const asked = { order, merchant, amount, isSigned: false }
  refunds.set(payee.toLowerCase(), asked)
  const body = { amount: formatUsdc(amount), reason: 'torture' }
  const made = random.chance(0.4)
    ? await claimed(scene, { order, apiKey, body, payee }, signal)
    : await requests.insist<RefundBody>(
        { path: `/api/v1/orders/${order.id}/refunds`, apiKey, body: { ...body, payee_address: payee } },
        signal,
      )
  if (!made) return
  count('refunds')
  const cancel = { path: `/api/v1/refunds/${made.id}/cancel`, apiKey, body: {} }
  if (random.chance(0.2)) return void (await requests.insist(cancel, signal))
  const { typed_data, from_address } = (await requests.get<RefundBody>(`/api/v1/refunds/${made.id}`, apiKey)) ?? made
  if (!typed_data) return
  const wallet = walletsOf(merchant).find(({ address }) => address === from_address)
  if (!wallet) return void requests.wrong.push(`refund ${made.id} is to be sent from ${from_address}, which is not its merchant's`)
  asked.isSigned = true
  const { domain, types, message } = typed_data
  const signature = await wallet.signTypedData(domain, types, message)
  const signed = { valid_before: Number(message.validBefore), signature }
  const path = `/api/v1/refunds/${made.id}/signature`
  const taken = await requests.insist({ path, apiKey, body: signed, key: randomUUID() }, signal)
  if (!taken) return
  count('refunds signed')
  if (random.chance(0.3)) {
    const answer = await requests.post(cancel)
    if (answer !== null && answer.status < 300)
      requests.wrong.push(`refund ${made.id} was cancelled (${answer.status}) while its signature could still move money`)
  }
}

interface Claimed {
  order: OrderBody
  apiKey: string
  body: { amount: string; reason: string }
  payee: string
}

/** The refund that a link became; null where the order has another link, or what was paid has gone. */
async function claimed(
  { requests, count }: Scene,
  { order, apiKey, body, payee }: Claimed,
  signal: AbortSignal,
): Promise<RefundBody | null> {
  const claim = await requests.insist<RefundClaimBody>({ path: `/api/v1/orders/${order.id}/refund-claims`, apiKey, body }, signal)
  if (!claim?.url) return null
  count('refund claims')
  const token = new URL(claim.url).pathname.split('/').at(-1)
  const shown = await requests.get<OrderBody>(`/api/v1/orders/${order.id}`, apiKey)
  const payment = shown?.payments?.find(({ status }) => status === 'confirmed')
  const end = () => requests.insist({ path: `/api/v1/refund-claims/${claim.id}/cancel`, apiKey, body: {} }, signal)
  if (!payment) {
    await end()
    return null
  }
  const named = { payee_address: payee, tx_hash: payment.tx_hash, amount: payment.amount }
  // A reorganisation may have taken the payment away, which is 400.
  for (let tries = 0; tries < 60 && !signal.aborted; tries++) {
    const answer = await requests.post({ path: `/api/v1/payer/refunds/${token}`, apiKey: null, body: named })
    if (answer === null || answer.status >= 500 || answer.status === 429) continue
    if (answer.status < 300) break
    await end()
    return null
  }
  const list = await requests.get<RefundListBody>(`/api/v1/orders/${order.id}/refunds`, apiKey)
  const refund = list?.data.find(({ payee_address: named }) => named === payee)
  if (refund) count('refund claims taken')
  return refund ?? null
}
