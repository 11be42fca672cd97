import type { OrderBody } from '@ponte/contracts'
import { units } from '../world'
import type { Traffic } from './traffic'

/** Named by `npm run reconcile -- --restored`: an order that went with its database, and its payments. */
interface Named {
  id: string
  paid: bigint
}

export const lostLines = (output: string): Named[] =>
  [...output.matchAll(/^LOST {2}order (\S+) .* (\d+\.\d{6}) paid$/gm)].map(([, id = '', paid = '0']) => ({ id, paid: units(paid) }))

export const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n)

interface Books {
  gatewayUrl: string
  traffic: Traffic
  named: readonly Named[]
}

const AT_ONCE = 16

/** Answers to merchants and payments, by the drill's own notes, that are neither shown by the API nor named with their money. */
export async function missingOf({ gatewayUrl, traffic, named }: Books): Promise<string[]> {
  const paid = new Map<string, bigint>()
  for (const { id, units: amount } of traffic.paid) paid.set(id, (paid.get(id) ?? 0n) + amount)
  const lost = new Map(named.map(one => [one.id, one.paid]))
  const shown = async (id: string): Promise<string[]> => {
    const answer = await fetch(`${gatewayUrl}/api/v1/orders/${id}`, { headers: { Authorization: `Bearer ${traffic.merchant.api_key}` } })
    const [due, order] = [paid.get(id) ?? 0n, (await answer.json()) as OrderBody]
    const lostWith = lost.get(id)
    if (answer.status === 404) {
      if (lostWith === undefined) return [`order ${id} was answered, and it is neither there nor named`]
      return lostWith === due ? [] : [`order ${id} is named with ${lostWith} units, and ${due} were paid`]
    }
    if (!answer.ok) return [`order ${id} is answered with ${answer.status}`]
    if (lostWith !== undefined) return [`order ${id} is named as lost, and it is there`]
    const received = receivedOf(order)
    // A payment that was mined just now is not noted yet.
    return received === due || due === 0n || !isPaidBefore(traffic, id) ? [] : [`order ${id} was paid ${due} units and shows ${received}`]
  }
  const ids = [...new Set([...traffic.made.map(one => one.id), ...paid.keys()])]
  const wrong: string[] = []
  while (ids.length > 0) wrong.push(...(await Promise.all(ids.splice(-AT_ONCE).map(shown))).flat())
  return wrong
}

const receivedOf = ({ payments = [] }: OrderBody) =>
  sumOf(payments.filter(({ status }) => status !== 'orphaned').map(({ amount }) => units(amount)))

/** A payment of the last seconds may not be confirmed yet. */
const RECENT_MS = 15_000
const isPaidBefore = (traffic: Traffic, id: string) => traffic.paid.every(one => one.id !== id || one.at < Date.now() - RECENT_MS)
