import { orderRules } from '@ponte/orders'
import type { OrderRules } from './books'
import { FIRST, type History, SECOND, time } from './chain'
import type { OrderScope } from './order'

export interface OrderFault {
  rules: OrderRules
  /** The history in which it is looked for. */
  history: History
  scope?: OrderScope
  /** What the walk must call it. */
  finds: RegExp
}

const {
  accept,
  attach,
  cancel,
  chainIdsOf,
  changesOf,
  confirmedTimeOf,
  factsOf,
  mismatchesOf,
  receivePayments,
  review,
  supersede,
  viewOf,
} = orderRules

export const paying = (
  cents: number,
  block: number,
  fate: History['payments'][number]['fate'] = 'stays',
  kind: 'router' | 'transfer' = 'transfer',
) => ({
  cents,
  kind,
  block,
  fate,
})
/** Through the router with the memo of no order. */
const stray = (cents: number, block: number, fate?: History['payments'][number]['fate']) => ({
  ...paying(cents, block, fate, 'router'),
  isStray: true,
})
export const history = (...payments: History['payments']): History => ({ payments, watchedAfter: 1, putBack: null })
const onSecond = (cents: number, block: number, fate?: History['payments'][number]['fate']) => ({
  ...paying(cents, block, fate),
  isOnSecond: true,
})
const onTwo = (...payments: History['payments']): History => ({ ...history(...payments), second: 'offered' })
const onOneOfTwo = (...payments: History['payments']): History => ({ ...history(...payments), second: 'not offered' })
/** As if the ids of chains were in the other order. */
const swapped = <T extends { id: string }>(payment: T): T => ({
  ...payment,
  id: payment.id.replace(/^[12]/, chain => String(3 - Number(chain))),
})
const PLAIN: OrderScope = { commands: [], parkedMax: 0 }

/** A rule of the verdict that sees another order than there is. */
export const seeing = (see: (order: orderRules.Order) => orderRules.Order): OrderRules => ({
  ...orderRules,
  review: (ledger, chain, at, before) => review({ ...ledger, order: see(ledger.order) }, chain, at, before ?? ledger.order),
  receivePayments: (ledger, changed, chain, at) => receivePayments({ ...ledger, order: see(ledger.order) }, changed, chain, at),
})

/** Faults that orders once had, or that are easily made, put back around the service's own rules. */
export const orderFaults: Record<string, OrderFault> = {
  'a replica expires by the generation of the listener before': {
    history: { ...history(paying(100, 1)), watchedAfter: 6, putBack: { at: 5, to: 0, unnoticed: 0, watchesAtOnce: true } },
    finds: /order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      review: (ledger, chain, at, before) => review({ ...ledger, generation: chain.generation ?? null }, chain, at, before),
    },
  },
  'an answer to a watch takes away nothing that was confirmed before it came': {
    history: { ...history(paying(100, 2, 'mined again')), putBack: { at: 5, to: 0, unnoticed: 0, watchesAtOnce: true } },
    finds: /something is still on its way/,
    rules: {
      ...orderRules,
      changesOf: (known, incoming, blocks, coverage) =>
        changesOf(known, incoming, coverage.through === null ? blocks : { ...blocks, isConfirmed: () => false }, coverage),
    },
  },
  'the last confirmed range counts, whatever is missing before it': {
    history: history(paying(100, 2, 'stays', 'router')),
    finds: /order.expired, and it was paid in time/,
    rules: { ...orderRules, confirmedTimeOf: (known, latest) => confirmedTimeOf({ ...known, ranges: [[0, 99]] }, latest) },
  },
  'what was seen counts as confirmed': {
    history: history(paying(100, 2, 'gone')),
    finds: /the chain does not hold what pays it/,
    rules: {
      ...orderRules,
      changesOf: (known, incoming, blocks, coverage) =>
        changesOf(
          known,
          incoming.map(payment => ({ ...payment, status: 'confirmed' as const })),
          blocks,
          coverage,
        ),
    },
  },
  'a block that is gone comes back with a message that was late': {
    history: history(paying(60, 2, 'gone'), paying(40, 2)),
    finds: /still on its way/,
    rules: {
      ...orderRules,
      changesOf: (known, incoming, blocks, coverage) =>
        changesOf(known, incoming, { ...blocks, goneAt: () => undefined, isConfirmed: () => false }, coverage),
    },
  },
  'the message that comes last wins, whatever its version': {
    history: history(paying(100, 1)),
    finds: /still on its way|confirmed sum is not/,
    rules: {
      ...orderRules,
      changesOf: (_known, incoming, blocks, coverage) => changesOf([], incoming, { ...blocks, isConfirmed: () => false }, coverage),
    },
  },
  'a payment that is mined again counts twice': {
    history: history(paying(100, 1, 'mined again', 'router')),
    finds: /still on its way/,
    rules: {
      ...orderRules,
      changesOf: (known, incoming, blocks, coverage) =>
        changesOf(
          known,
          incoming,
          { ...blocks, advanced: null, gone: new Set(), goneAt: () => undefined, isConfirmed: () => false },
          { ...coverage, through: null },
        ),
    },
  },
  'a listener that lost its future is believed': {
    history: { ...history(paying(100, 2)), putBack: { at: 4, to: 0, unnoticed: 4, watchesAtOnce: false } },
    finds: /order.expired, and it was paid in time/,
    rules: { ...orderRules, isCertain: () => true, factsOf: (...known) => ({ ...factsOf(...known), isDoubtful: false }) },
  },
  'a dead letter holds up nothing': {
    history: history(paying(100, 2)),
    scope: { commands: [], parkedMax: 1 },
    finds: /order.expired, and it was paid in time/,
    rules: { ...orderRules, review: (ledger, chain, at, before) => review({ ...ledger, isHeld: false }, chain, at, before) },
  },
  'an order that is not watched expires': {
    history: { ...history(paying(100, 1)), watchedAfter: 6 },
    finds: /order.expired, and it was paid in time/,
    rules: { ...orderRules, review: (ledger, chain, at, before) => review({ ...ledger, isWatched: true }, chain, at, before) },
  },
  'order.paid is published again after a reorganisation': {
    history: history(paying(100, 1), paying(100, 2)),
    finds: /order.paid is published twice/,
    rules: seeing(order => ({ ...order, paidAt: null })),
  },
  'an order expires again when money comes late': {
    history: history(paying(100, 5)),
    finds: /order.expired is published twice/,
    rules: seeing(order => ({ ...order, expiredAt: null })),
  },
  'the tolerance is forgotten': {
    history: history(paying(99, 1)),
    finds: /order.expired, and it was paid in time/,
    rules: seeing(order => ({ ...order, toleranceUnits: 0n })),
  },
  'lateness is judged by the first payment': {
    history: history(paying(60, 1), paying(40, 3)),
    finds: /the chain does not hold what pays it in time/,
    rules: {
      ...orderRules,
      receivePayments: (ledger, changed, chain, at) => {
        if (!ledger.isAll) return null
        const first = ledger.payments.toSorted((a, b) => Number(a.blockNumber - b.blockNumber))[0]?.blockTime
        return receivePayments(ledger, first ? changed.map(payment => ({ ...payment, blockTime: first })) : changed, chain, at)
      },
    },
  },
  'an order is cancelled while money is on its way': {
    history: history(paying(100, 1)),
    scope: { commands: ['cancel'], parkedMax: 0 },
    finds: /cancelled while money for it is known/,
    rules: { ...orderRules, cancel: (order, at) => cancel({ ...order, status: 'pending', seenUnits: 0n, confirmedUnits: 0n }, at) },
  },
  'an order of a period is closed at once when another is paid': {
    history: history(paying(100, 1)),
    scope: { commands: ['supersede'], parkedMax: 0 },
    finds: /cancelled while money for it is known/,
    rules: {
      ...orderRules,
      supersede: (ledger, chain, at) => supersede({ ...ledger, order: { ...ledger.order, status: 'pending', seenUnits: 0n } }, chain, at),
    },
  },
  'what was taken as paid is judged anew by what came': {
    history: history(paying(60, 1), paying(20, 2)),
    scope: { commands: ['accept'], parkedMax: 0 },
    finds: /accepted, its money is/,
    rules: seeing(order => ({ ...order, acceptedAt: null })),
  },
  'money that is on its way is taken as paid': {
    history: history(paying(60, 2, 'gone')),
    scope: { commands: ['accept'], parkedMax: 0 },
    finds: /accepted while nothing is confirmed/,
    rules: {
      ...orderRules,
      accept: (ledger, acceptance, chain, at) =>
        accept(
          {
            ...ledger,
            order: { ...ledger.order, status: 'underpaid', confirmedUnits: ledger.order.seenUnits, lastTxHash: 'transaction 1' },
          },
          acceptance,
          chain,
          at,
        ),
    },
  },
  'it is taken as paid for ever, whatever the chain takes back': {
    history: history(paying(60, 1, 'taken back')),
    scope: { commands: ['accept'], parkedMax: 0 },
    finds: /accepted, its money is/,
    rules: seeing(order => (order.acceptedAt === null ? order : { ...order, acceptedUnits: 0n })),
  },
  'it is taken as paid a second time': {
    history: history(paying(60, 1, 'taken back'), paying(60, 2)),
    scope: { commands: ['accept', 'accept'], parkedMax: 0 },
    finds: /order.paid is published twice/,
    rules: {
      ...orderRules,
      accept: (ledger, acceptance, chain, at) => accept({ ...ledger, order: { ...ledger.order, paidAt: null } }, acceptance, chain, at),
    },
  },
  'money of no order counts for one before it is confirmed': {
    history: history(stray(100, 2, 'gone')),
    scope: { commands: ['attach'], parkedMax: 0 },
    finds: /attached before it is confirmed/,
    rules: { ...orderRules, attach: (ledger, money, ...others) => attach(ledger, { ...money, status: 'confirmed' }, ...others) },
  },
  'money of no order counts at the moment in which it is counted, not at that of its block': {
    history: history(stray(100, 3)),
    scope: { commands: ['attach'], parkedMax: 0 },
    finds: /the chain does not hold what pays it in time/,
    rules: { ...orderRules, attach: (ledger, money, ...others) => attach(ledger, { ...money, blockTime: time(0) }, ...others) },
  },
  'money of no order counts for one that is paid': {
    history: history(paying(100, 1), stray(100, 2)),
    scope: { commands: ['attach'], parkedMax: 0 },
    finds: /attached although it was paid/,
    rules: {
      ...orderRules,
      attach: (ledger, ...rest) => attach({ ...ledger, order: { ...ledger.order, status: 'pending', paidAt: null } }, ...rest),
    },
  },
  'a charge is taken as paid beside another one of its period': {
    history: history(paying(60, 1)),
    scope: { commands: ['accept', 'supersede'], parkedMax: 0 },
    finds: /another order of its period is paid/,
    rules: {
      ...orderRules,
      accept: (ledger, acceptance, chain, at) =>
        accept({ ...ledger, order: { ...ledger.order, supersededAt: null } }, acceptance, chain, at),
    },
  },
  'a sum is notified as too little again when money on its way is gone': {
    history: history(paying(60, 1), paying(60, 2, 'gone')),
    finds: /comes again for the same sum/,
    rules: seeing(order => ({ ...order, notifiedUnits: 0n })),
  },
  'expiry asks one network alone how far it is confirmed': {
    history: onTwo(onSecond(100, 2)),
    finds: /order.expired, and it was paid in time/,
    rules: { ...orderRules, viewOf: (chainIds, of) => ({ ...viewOf(chainIds, of), time: of(FIRST)?.time ?? null }) },
  },
  'expiry asks for the network that is furthest': {
    history: onTwo(paying(100, 2)),
    finds: /order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      viewOf: (chainIds, of) => {
        const times = chainIds.flatMap(chainId => of(chainId)?.time?.getTime() ?? [])
        return { ...viewOf(chainIds, of), time: times.length > 0 ? new Date(Math.max(...times)) : null }
      },
    },
  },
  'expiry asks one network alone whether the order is watched': {
    history: { ...onTwo(paying(100, 1)), watchedAfter: 6 },
    finds: /order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      factsOf: (chainIds, watchedOn, chains) => ({ ...factsOf(chainIds, watchedOn, chains), isWatched: watchedOn.includes(SECOND) }),
    },
  },
  'expiry asks one network alone for its generation': {
    history: { ...onTwo(paying(100, 1)), watchedAfter: 6, putBack: { at: 5, to: 0, unnoticed: 0, watchesAtOnce: true } },
    finds: /order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      factsOf: (chainIds, watchedOn, chains) => ({ ...factsOf(chainIds, watchedOn, chains), generation: chains[1]?.generation ?? '' }),
      viewOf: (chainIds, of) => ({ ...viewOf(chainIds, of), generation: of(SECOND)?.generation ?? '' }),
    },
  },
  'a listener of another network that lost its future is believed': {
    history: { ...onTwo(paying(100, 1)), putBack: { at: 4, to: 0, unnoticed: 4, watchesAtOnce: false } },
    finds: /order.expired, and it was paid in time/,
    rules: {
      ...orderRules,
      isCertain: () => true,
      factsOf: (chainIds, watchedOn, chains) => ({
        ...factsOf(chainIds, watchedOn, chains),
        isDoubtful: factsOf([SECOND], watchedOn, chains).isDoubtful,
      }),
    },
  },
  'blocks take back what another network has at their heights': {
    history: onTwo(paying(60, 1), onSecond(40, 1)),
    finds: /the confirmed sum is not what the chain holds|order.expired, and it was paid in time/,
    rules: { ...orderRules, isOfChain: () => true },
  },
  'of several networks, payments complete an order as they arrive': {
    history: onTwo(paying(60, 1), onSecond(60, 3)),
    finds: /the chain does not hold what pays it in time/,
    rules: {
      ...orderRules,
      receivePayments: (ledger, changed, chain, at) =>
        receivePayments({ ...ledger, order: { ...ledger.order, lastBlock: null, lastIndex: null } }, changed, chain, at),
    },
  },
  'of several networks, payments of one second complete an order in another order than that of the chains': {
    history: onTwo(paying(60, 1), onSecond(60, 1)),
    finds: /completed it, and by the chains/,
    rules: {
      ...orderRules,
      receivePayments: (ledger, changed, chain, at) =>
        receivePayments({ ...ledger, payments: ledger.payments.map(swapped) }, changed.map(swapped), chain, at),
    },
  },
  'of several networks, a payment of the same second comes after what is counted': {
    history: onTwo(paying(60, 1), onSecond(60, 1)),
    finds: /completed it, and by the chains/,
    rules: {
      ...orderRules,
      receivePayments: (ledger, changed, chain, at) => {
        const { lastTime } = ledger.order
        return receivePayments(
          { ...ledger, order: { ...ledger.order, lastTime: lastTime && new Date(lastTime.getTime() - 1) } },
          changed,
          chain,
          at,
        )
      },
    },
  },
  'money on a network that the order does not offer counts for it': {
    history: onOneOfTwo(onSecond(100, 1)),
    finds: /the chain does not hold what pays it in time/,
    rules: { ...orderRules, mismatchesOf: (reports, order, known) => mismatchesOf(reports, order && offeringAll(order), known) },
  },
  'a network that the order does not offer holds back its expiry': {
    history: onOneOfTwo(),
    finds: /everything was read: the order is pending and the chain says expired/,
    rules: { ...orderRules, chainIdsOf: order => chainIdsOf(offeringAll(order)) },
  },
  'an order that offers a network from now on expires without it': {
    history: onOneOfTwo(onSecond(60, 1), onSecond(40, 2)),
    scope: { commands: ['attach'], parkedMax: 0 },
    finds: /order.expired, and it was paid in time/,
    rules: { ...orderRules, chainIdsOf: ({ chainId }) => [chainId] },
  },
  'of what came on a network that the order offers from now on, one payment counts': {
    history: onOneOfTwo(onSecond(60, 2), onSecond(40, 2)),
    scope: { commands: ['attach'], parkedMax: 0 },
    finds: /order.expired, and it was paid in time/,
    rules: { ...orderRules, attach: (ledger, money, _rest, ...others) => attach(ledger, money, [], ...others) },
  },
}

const offeringAll = <T extends Pick<orderRules.Order, 'networks'>>(order: T): T => ({
  ...order,
  networks: order.networks.map(network => ({ ...network, isOffered: true })),
})

export const scopeOf = ({ scope = PLAIN }: OrderFault): OrderScope => scope
