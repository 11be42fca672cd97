import type { HistoryScope } from './chain'
import type { OrderScope } from './order'
import { GUARD, type PayoutScope } from './payout'
import type { PeriodScope } from './period'
import type { RefundScope } from './refund'

/** What is walked: the small scopes by `npm test`, the wide ones by `npm run explore`. docs/protocol.md states their sizes. */

const PLAIN: OrderScope = { commands: [], parkedMax: 0 }
const ONE: HistoryScope = {
  amounts: [[100]],
  blocks: [2, 5],
  fates: ['stays', 'gone', 'mined again'],
  watchedAfter: [1],
  putBacks: [null],
}
/** Before it had read the order's end, and after; noticed at once, or only when it had passed the end again. */
const PUT_BACK: HistoryScope['putBacks'] = [
  { at: 5, to: 0, unnoticed: 0, watchesAtOnce: true },
  { at: 3, to: 1, unnoticed: 0, watchesAtOnce: false },
  { at: 4, to: 0, unnoticed: 4, watchesAtOnce: false },
]

export type OrderWalk = readonly [what: string, histories: HistoryScope, scope: OrderScope]

export const smallOrders: readonly OrderWalk[] = [
  ['one payment', { ...ONE, watchedAfter: [1, 7] }, PLAIN],
  ['one payment, and a cancellation', ONE, { commands: ['cancel'], parkedMax: 0 }],
  ['one payment, and the ends of a plan', { ...ONE, fates: ['stays', 'gone'] }, { commands: ['supersede', 'release'], parkedMax: 0 }],
  [
    'too little or late, taken as paid',
    { ...ONE, amounts: [[60], [100]], blocks: [2, 3], fates: ['stays', 'gone'] },
    { commands: ['accept', 'cancel'], parkedMax: 0 },
  ],
  [
    'a charge taken as paid twice, and another one paid',
    { ...ONE, amounts: [[60]], blocks: [2], fates: ['stays', 'taken back'] },
    { commands: ['accept', 'accept', 'supersede'], parkedMax: 0 },
  ],
  [
    'a part and money of no order, counted for it at any moment',
    { ...ONE, amounts: [[60, 40]], blocks: [2, 3], fates: ['stays', 'gone'], hasStray: true },
    { commands: ['attach'], parkedMax: 0 },
  ],
  [
    'money of no order that is taken back, counted for it, accepted or cancelled',
    { ...ONE, amounts: [[60], [100]], blocks: [2, 3], fates: ['stays', 'taken back'], hasStray: true },
    { commands: ['attach', 'accept', 'cancel'], parkedMax: 0 },
  ],
  ['one payment, and a dead letter', ONE, { commands: [], parkedMax: 1 }],
  [
    'one payment, and a listener that is put back',
    { ...ONE, blocks: [2], fates: ['stays', 'mined again'], putBacks: PUT_BACK.slice(1, 2) },
    PLAIN,
  ],
  ['one payment, and four blocks in the second in which it ends', { ...ONE, isDense: true }, PLAIN],
  ['two payments', { ...ONE, amounts: [[60, 40]], blocks: [2], fates: ['stays', 'gone'] }, PLAIN],
  [
    'two networks, a half on each',
    { ...ONE, amounts: [[60, 40]], blocks: [2], kinds: ['transfer'], fates: ['stays'], second: 'offered', onSecond: [[false, true]] },
    PLAIN,
  ],
  [
    'two networks, of which the order offers one',
    { ...ONE, amounts: [[100]], blocks: [2], kinds: ['transfer'], fates: ['stays', 'gone'], second: 'not offered', onSecond: [[true]] },
    { commands: ['attach'], parkedMax: 0 },
  ],
  [
    'two networks, of which the order offers one, and two payments on the other',
    { ...ONE, amounts: [[60, 40]], blocks: [2], kinds: ['transfer'], fates: ['stays'], second: 'not offered', onSecond: [[true, true]] },
    { commands: ['attach'], parkedMax: 0 },
  ],
]

const ON_EACH = [
  [false, true],
  [true, false],
]
const TWO: HistoryScope = { ...ONE, amounts: [[60, 40]], blocks: [1, 2, 5] }
export const wideOrders: readonly OrderWalk[] = [
  ['two payments that pay it together', { ...TWO, fates: ['stays', 'mined again'] }, PLAIN],
  ['two payments of which one or both are gone', { ...TWO, blocks: [2, 5], fates: ['stays', 'gone'] }, PLAIN],
  ['two payments of which each pays it', { ...TWO, amounts: [[100, 100]], blocks: [2, 5] }, PLAIN],
  ['two payments, and a cancellation', { ...TWO, blocks: [2], fates: ['stays', 'mined again'] }, { commands: ['cancel'], parkedMax: 0 }],
  [
    'two payments, and the ends of a plan',
    { ...TWO, blocks: [2, 5], fates: ['stays'] },
    { commands: ['supersede', 'release'], parkedMax: 0 },
  ],
  [
    'two payments, taken as paid at any moment',
    {
      ...TWO,
      amounts: [
        [60, 40],
        [60, 100],
      ],
      blocks: [2, 3],
      fates: ['stays', 'taken back'],
    },
    { commands: ['accept', 'cancel'], parkedMax: 0 },
  ],
  [
    'two payments of a charge, taken as paid at any moment',
    { ...TWO, blocks: [2, 5], fates: ['stays', 'gone'] },
    { commands: ['accept', 'supersede', 'release'], parkedMax: 0 },
  ],
  [
    'two payments, the second of no order, counted for it, accepted or cancelled at any moment',
    { ...TWO, fates: ['stays', 'taken back'], hasStray: true },
    { commands: ['attach', 'accept', 'cancel'], parkedMax: 0 },
  ],
  ['two payments, and a dead letter', { ...TWO, blocks: [2, 5], fates: ['stays', 'gone'] }, { commands: [], parkedMax: 1 }],
  [
    'a little less, much more, and late',
    { ...ONE, amounts: [[99], [98], [130]], blocks: [1, 2, 3, 5] },
    { commands: ['cancel'], parkedMax: 0 },
  ],
  [
    'two networks, a payment on each, of which one or both are gone',
    { ...TWO, blocks: [2, 5], kinds: ['transfer'], fates: ['stays', 'gone'], second: 'offered', onSecond: ON_EACH },
    PLAIN,
  ],
  [
    'two networks of which the order offers one, and two payments, counted for it at any moment',
    { ...TWO, blocks: [2], kinds: ['transfer'], fates: ['stays', 'gone'], second: 'not offered', onSecond: [...ON_EACH, [true, true]] },
    { commands: ['attach'], parkedMax: 0 },
  ],
]

/** Those in which the listener's database is put back, or the chain takes back what was confirmed. */
export const widePutBacks: readonly OrderWalk[] = [
  [
    'one payment, and a listener that is put back',
    { ...ONE, watchedAfter: [1, 7], blocks: [1, 2], fates: ['stays', 'mined again'], putBacks: PUT_BACK.slice(0, 2) },
    PLAIN,
  ],
  [
    'one payment, and a listener that is put back and does not notice it for four blocks',
    { ...ONE, blocks: [2], putBacks: PUT_BACK.slice(2) },
    PLAIN,
  ],
  [
    'two payments, and four blocks in the second in which it ends',
    { ...TWO, blocks: [2, 5], fates: ['stays', 'gone'], isDense: true },
    PLAIN,
  ],
  [
    'two payments, and a listener that is put back',
    { ...TWO, blocks: [2], fates: ['stays', 'mined again'], putBacks: PUT_BACK.slice(1, 2) },
    PLAIN,
  ],
  [
    'one payment, a listener that is put back, and what the merchant asks for',
    { ...ONE, amounts: [[60], [100]], blocks: [2], fates: ['stays', 'mined again'], putBacks: PUT_BACK.slice(0, 2) },
    { commands: ['cancel', 'accept'], parkedMax: 0 },
  ],
  [
    'money of no order that is counted for it, and a listener that is put back',
    { ...ONE, amounts: [[60, 40]], blocks: [1, 2], fates: ['stays'], putBacks: PUT_BACK.slice(0, 2), hasStray: true },
    { commands: ['attach'], parkedMax: 0 },
  ],
  [
    'one payment, a listener that is put back, and the ends of a plan',
    { ...ONE, blocks: [2], fates: ['stays', 'mined again'], putBacks: PUT_BACK.slice(0, 2) },
    { commands: ['supersede', 'release'], parkedMax: 0 },
  ],
  [
    'two networks, one payment, and a listener that is put back',
    {
      ...ONE,
      blocks: [1],
      kinds: ['transfer'],
      fates: ['stays'],
      putBacks: PUT_BACK.slice(0, 2),
      second: 'offered',
      onSecond: [[false], [true]],
    },
    PLAIN,
  ],
  [
    'a confirmed payment that is taken back',
    { ...TWO, blocks: [1, 2], fates: ['stays', 'taken back'] },
    { commands: ['cancel'], parkedMax: 0 },
  ],
]

export const smallPlan: PeriodScope = {
  whenUnpaid: 'cancel',
  unpaidPeriodsMax: 1,
  looks: [0, 3, 10],
  paymentsMax: 2,
  obstacles: false,
  maxPeriods: null,
}
export const widePlan: PeriodScope = { ...smallPlan, looks: [0, 3, 10, 13], obstacles: true }

export const smallRefunds: RefundScope = { units: [100n], last: 3, lifeS: 1, ahead: [2] }
export const wideRefunds: RefundScope = { units: [60n, 100n], last: 4, lifeS: 2, ahead: [2] }

export const smallPayout: PayoutScope = { isOwner: false, last: 8, guard: GUARD, reaction: 2 }
export const smallInsider: PayoutScope = { ...smallPayout, isOwner: true, last: 4 }
export const widePayout: PayoutScope = { ...smallPayout, last: 40 }
export const wideInsider: PayoutScope = { ...smallInsider, last: 8 }
