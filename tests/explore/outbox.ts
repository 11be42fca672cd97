import type { Model, Step } from './explorer'

/**
 * The outbox and the inbox of the kit, as packages/service-kit/README.md promises them: two replicas of a publisher, two of a consumer, a broker that hands
 * out again what was not acknowledged. A process may die between any two steps. What the steps are is read from `bus/outbox-relay.ts` and `bus/consumer.ts`,
 * which are SQL and waiting and cannot be called from here; `packages/service-kit/test/bus` and torture run them.
 */
export interface OutboxScope {
  events: number
  /** So many times a process dies. */
  crashes: number
}

/** Where the order of steps is what keeps the promise; each may be put wrong. */
export interface OutboxRules {
  /** State and event are one statement. */
  commitsTogether: boolean
  /** What is marked as sent was confirmed by the broker. */
  marksConfirmedAlone: boolean
  /** What a process that died had claimed is claimed again. */
  claimsEnd: boolean
  /** The inbox is written with the effect. */
  inboxWithEffect: boolean
  hasInbox: boolean
  /** The inbox is not written before the effect. */
  marksAfterEffect: boolean
  /** What is not sent is looked for, not what comes after the last that was sent. */
  looksForUnsent: boolean
  /** A message is acknowledged when its effect is committed. */
  acknowledgesLast: boolean
}

export const OUTBOX_RULES: OutboxRules = {
  commitsTogether: true,
  marksConfirmedAlone: true,
  claimsEnd: true,
  inboxWithEffect: true,
  hasInbox: true,
  marksAfterEffect: true,
  looksForUnsent: true,
  acknowledgesLast: true,
}

type Holding = 'claimed' | 'published' | 'confirmed'
interface Handling {
  event: number
  stage: 'taken' | 'effect without inbox' | 'inbox without effect' | 'committed'
}
interface Row {
  isChanged: boolean
  isInOutbox: boolean
  isSent: boolean
  isClaimed: boolean
  /** Copies in the queue that no consumer holds. */
  ready: number
  isInInbox: boolean
  effects: number
}
export interface OutboxState {
  rows: readonly Row[]
  relays: readonly ReadonlyMap<number, Holding>[]
  consumers: readonly (Handling | null)[]
  crashes: number
}

const COPIES_MAX = 3
const REPLICAS = [0, 1]
const row: Row = { isChanged: false, isInOutbox: false, isSent: false, isClaimed: false, ready: 0, isInInbox: false, effects: 0 }

export function outboxModel(scope: OutboxScope, rules: OutboxRules = OUTBOX_RULES): Model<OutboxState> {
  return {
    start: {
      rows: Array.from({ length: scope.events }, () => row),
      relays: REPLICAS.map(() => new Map()),
      consumers: REPLICAS.map(() => null),
      crashes: 0,
    },
    key: ({ rows, relays, consumers, crashes }) =>
      // Replicas are alike: which of two holds something plays no part.
      JSON.stringify([
        rows.map(Object.values),
        relays.map(held => JSON.stringify([...held].sort())).sort(),
        consumers.map(one => JSON.stringify(one)).sort(),
        crashes,
      ]),
    *steps(state) {
      for (const [event, known] of state.rows.entries()) {
        yield* commit(state, event, known)
        for (const replica of REPLICAS) {
          yield* relay(state, event, known, replica)
          yield* consume(state, event, known, replica)
        }
      }
      yield* crash(state)
    },
    faults: ({ rows }, isLast) =>
      rows.flatMap(({ isChanged, isInOutbox, effects }, event) => [
        ...(effects > 1 ? [`event ${event + 1} has its effect twice`] : []),
        ...(isInOutbox && !isChanged ? [`event ${event + 1} is published without its state`] : []),
        ...(isLast && isChanged && effects === 0 ? [`event ${event + 1} is lost`] : []),
      ]),
  }

  function* commit(state: OutboxState, event: number, known: Row): Iterable<Step<OutboxState>> {
    const name = `event ${event + 1}`
    if (!known.isChanged && rules.commitsTogether)
      yield { name: `${name}: state and outbox are committed`, next: put(state, event, { isChanged: true, isInOutbox: true }) }
    if (rules.commitsTogether) return
    if (!known.isChanged) yield { name: `${name}: its state is committed`, next: put(state, event, { isChanged: true }) }
    // The process that committed the state has to be alive for the second statement; dying ends that.
    else if (!known.isInOutbox && state.crashes === 0)
      yield { name: `${name}: its outbox row is committed`, next: put(state, event, { isInOutbox: true }) }
  }

  function* relay(state: OutboxState, event: number, known: Row, replica: number): Iterable<Step<OutboxState>> {
    const holding = state.relays[replica]?.get(event)
    const name = `relay ${replica + 1}, event ${event + 1}`
    const hold = (change: Partial<Row>, now: Holding | null): OutboxState => {
      const relays = state.relays.map((held, index) => (index === replica ? withHolding(held, event, now) : held))
      return put({ ...state, relays }, event, change)
    }
    const isPassed = !rules.looksForUnsent && state.rows.some(({ isSent }, other) => isSent && other > event)
    if (holding === undefined && known.isInOutbox && !known.isSent && !known.isClaimed && !isPassed)
      yield { name: `${name}: claimed`, next: hold({ isClaimed: true }, 'claimed') }
    if (holding === 'claimed') {
      if (known.ready < COPIES_MAX) yield { name: `${name}: published`, next: hold({ ready: known.ready + 1 }, 'published') }
      if (!rules.marksConfirmedAlone) yield { name: `${name}: marked as sent`, next: hold({ isSent: true }, null) }
      yield { name: `${name}: the broker takes nothing`, next: hold({ isClaimed: false }, null) }
    }
    if (holding === 'published') {
      yield { name: `${name}: confirmed`, next: hold({}, 'confirmed') }
      // It may have been taken all the same.
      yield { name: `${name}: no confirm comes`, next: hold({ isClaimed: false }, null) }
    }
    if (holding === 'confirmed') yield { name: `${name}: marked as sent`, next: hold({ isSent: true, isClaimed: false }, null) }
    // Its time is over while it is on its way: another replica may claim it too.
    if (holding !== undefined && known.isClaimed && rules.claimsEnd)
      yield { name: `${name}: its claim ends`, next: put(state, event, { isClaimed: false }) }
  }

  function* consume(state: OutboxState, event: number, known: Row, replica: number): Iterable<Step<OutboxState>> {
    const handling = state.consumers[replica]
    const name = `consumer ${replica + 1}, event ${event + 1}`
    const becomes = (now: Handling | null, change: Partial<Row> = {}): OutboxState =>
      put({ ...state, consumers: state.consumers.map((one, index) => (index === replica ? now : one)) }, event, change)
    if (!handling) {
      if (known.ready > 0) yield { name: `${name}: taken`, next: becomes({ event, stage: 'taken' }, { ready: known.ready - 1 }) }
      return
    }
    if (handling.event !== event) return
    const effect = { effects: known.effects + 1 }
    if (handling.stage === 'taken') {
      if (rules.hasInbox && known.isInInbox)
        yield { name: `${name}: it is in the inbox already`, next: becomes({ event, stage: 'committed' }) }
      else if (!rules.hasInbox) yield { name: `${name}: its effect is committed`, next: becomes({ event, stage: 'committed' }, effect) }
      else if (!rules.marksAfterEffect)
        yield { name: `${name}: its inbox row is committed`, next: becomes({ event, stage: 'inbox without effect' }, { isInInbox: true }) }
      else if (rules.inboxWithEffect)
        yield {
          name: `${name}: effect and inbox are committed`,
          next: becomes({ event, stage: 'committed' }, { ...effect, isInInbox: true }),
        }
      else yield { name: `${name}: its effect is committed`, next: becomes({ event, stage: 'effect without inbox' }, effect) }
    }
    if (handling.stage === 'effect without inbox')
      yield { name: `${name}: its inbox row is committed`, next: becomes({ event, stage: 'committed' }, { isInInbox: true }) }
    if (handling.stage === 'inbox without effect')
      yield { name: `${name}: its effect is committed`, next: becomes({ event, stage: 'committed' }, effect) }
    if (handling.stage === 'committed') yield { name: `${name}: acknowledged`, next: becomes(null) }
  }

  function* crash(state: OutboxState): Iterable<Step<OutboxState>> {
    if (state.crashes === scope.crashes) return
    const crashed = { ...state, crashes: state.crashes + 1 }
    for (const replica of REPLICAS) {
      const held = state.relays[replica]
      if (held && held.size > 0) {
        const rows = state.rows.map((known, event) => (held.has(event) && rules.claimsEnd ? { ...known, isClaimed: false } : known))
        const relays = state.relays.map((one, index) => (index === replica ? new Map<number, Holding>() : one))
        yield { name: `relay ${replica + 1} dies`, next: { ...crashed, rows, relays } }
      }
      const handling = state.consumers[replica]
      if (!handling) continue
      const consumers = state.consumers.map((one, index) => (index === replica ? null : one))
      const ready = (state.rows[handling.event]?.ready ?? 0) + (rules.acknowledgesLast ? 1 : 0)
      yield { name: `consumer ${replica + 1} dies`, next: put({ ...crashed, consumers }, handling.event, { ready }) }
    }
    if (!rules.commitsTogether) yield { name: 'the publisher dies', next: crashed }
  }
}

const put = (state: OutboxState, event: number, change: Partial<Row>): OutboxState => ({
  ...state,
  rows: state.rows.map((known, index) => (index === event ? { ...known, ...change } : known)),
})

function withHolding(held: ReadonlyMap<number, Holding>, event: number, now: Holding | null): ReadonlyMap<number, Holding> {
  const next = new Map(held)
  if (now === null) next.delete(event)
  else next.set(event, now)
  return next
}

/** Steps put in a wrong order, and what the walk must call each. */
export const outboxFaults: Record<string, { rules: OutboxRules; finds: RegExp }> = {
  'state and event are two statements': { rules: { ...OUTBOX_RULES, commitsTogether: false }, finds: /is lost/ },
  'what was handed to the broker counts as sent': { rules: { ...OUTBOX_RULES, marksConfirmedAlone: false }, finds: /is lost/ },
  'a claim never ends': { rules: { ...OUTBOX_RULES, claimsEnd: false }, finds: /is lost/ },
  'the inbox is written after the effect': { rules: { ...OUTBOX_RULES, inboxWithEffect: false }, finds: /its effect twice/ },
  'there is no inbox': { rules: { ...OUTBOX_RULES, hasInbox: false }, finds: /its effect twice/ },
  'a message is acknowledged before its effect': { rules: { ...OUTBOX_RULES, acknowledgesLast: false }, finds: /is lost/ },
}
