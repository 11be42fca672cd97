import { orderRules } from '@ponte/orders'
import { allRefreshed, type Books, command, emptyBooks, looked, type OrderRules, reported, take } from '../explore/books'
import { type Attach, eventOf, type OrderOutcome, type Place, type Trace, txHashOf } from './traces'

/** The model's seconds, from an instant at which its order ends. */
export const EXPIRES = 5

/** Something that is asked for step by step, and looked at after each. */
export interface Replica {
  read(message: ReturnType<typeof eventOf>, index: number): Promise<void> | void
  ask(command: 'cancel' | 'accept' | Attach): Promise<void> | void
  outcome(): Promise<OrderOutcome> | OrderOutcome
}

/** Replays a run and names the first step after which the two differ; null when none does. */
export async function differenceIn(trace: Trace, place: Place, replica: Replica): Promise<string | null> {
  for (const [index, { message, expected }] of trace.steps.entries()) {
    const model = typeof message === 'number' ? trace.messages[message] : undefined
    if (typeof message !== 'number') await replica.ask(message)
    else if (model) await replica.read(eventOf(trace, model, place), message)
    const outcome = await replica.outcome()
    if (JSON.stringify(outcome) === JSON.stringify(expected)) continue
    const before = trace.steps
      .slice(0, index + 1)
      .map(step => JSON.stringify(typeof step.message === 'number' ? trace.messages[step.message] : step.message))
    return `step ${index + 1}: the model says ${JSON.stringify(expected)}, and it is ${JSON.stringify(outcome)}, after\n${before.join('\n')}`
  }
  return null
}

const time = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000)
const purePlace: Place = {
  ...{ orderId: '01981f3c-0000-7000-8000-000000000002', memo: 'ab'.repeat(32), merchant: '0x01', time },
  chains: [1, 2].map(chainId => ({ chainId, router: '0x03', token: '0x02', deposit: '0x04' })),
  generation: number => `01900000-0000-7000-8000-00000000000${number}`,
  hash: name => name,
}

/** The same of the services' own pure rules. */
export const difference = (trace: Trace, rules: OrderRules = orderRules): Promise<string | null> => {
  const { replica, place } = pureReplica(trace, rules)
  return differenceIn(trace, place, replica)
}

/** The services' own pure rules, asked as `intake` and the expiry ask them. */
function pureReplica({ second }: Trace, rules: OrderRules): { replica: Replica; place: Place } {
  const order = orderRules.open(
    {
      ...{ id: purePlace.orderId, memo: purePlace.memo, subscriptionId: null, externalRef: null, description: null, metadata: {} },
      terms: {
        merchant_id: '01981f3c-0000-7000-8000-000000000001',
        version: 1,
        display_name: 'Padaria',
        payout_address: purePlace.merchant,
      },
      ...{ brlCentavos: 500n, expiresAt: time(EXPIRES) },
    },
    { rateMicros: 5_000_000n, source: 'static', asOf: time(0), spreadBps: 0 },
    { chainId: 1, tokenAddress: '0x02', routerAddress: '0x03', feeBps: 100n, tolerance: { defaultUnits: 10_000n, maxUnits: 5_000_000n } },
    time(0),
  )
  let books: Books = emptyBooks({
    ...{ ...order, depositAddress: '0x04' },
    networks: second
      ? [
          {
            ...{ chainId: 2, isOffered: second === 'offered', tokenAddress: '0x02', routerAddress: '0x03', depositAddress: '0x04' },
            ...{ watchFrom: 0, merchantIsContract: false },
          },
        ]
      : [],
  })
  const counts = new Map<string, number>()
  const note = (outcome: { books: Books; events: readonly { type: string }[] }) => {
    books = outcome.books
    for (const { type } of outcome.events) counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  const replica: Replica = {
    read(message) {
      note(take(books, reported(message), rules))
      books = allRefreshed(books, rules)
      note(looked(books, rules))
    },
    ask(what) {
      if (typeof what === 'string') return note(command(what, books, rules))
      // One that was mined again has the transaction of the block that is gone.
      const money = books.strays.find(({ txHash, status }) => status === 'confirmed' && txHash === txHashOf(purePlace, what.attach))
      books = { ...books, strays: [...(money ? [money] : []), ...books.strays.filter(stray => stray !== money)] }
      note(command('attach', books, rules))
      note(looked(books, rules))
    },
    outcome: () => ({
      ...{ status: books.order.status, exception: books.order.exception },
      ...{ paid: counts.get('order.paid') ?? 0, expired: counts.get('order.expired') ?? 0 },
      ...{ cancelled: counts.get('order.cancelled') ?? 0, underpaid: counts.get('order.underpaid') ?? 0 },
    }),
  }
  return { replica, place: purePlace }
}
