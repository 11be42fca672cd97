import type { BlockPayment, ChainBlocks } from '@ponte/contracts'
import { formatUsdc } from '@ponte/contracts'

/** A small chain and what a listener publishes of it: one block a second, confirmed when one more stands above it. Written from docs/chain.md. */
export const EXPIRES = 2
const DEPTH = 1
/** The last block that is mined. */
const LAST = 7

export const time = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000)

/** Where a chain has several blocks a second, the three after the order's end have the time of that end. */
const secondOf = (height: number, isDense = false): number => (isDense && EXPIRES < height && height <= EXPIRES + 3 ? EXPIRES : height)

export type Fate = 'stays' | 'gone' | 'mined again' | 'taken back'

export interface Paying {
  cents: number
  kind: 'router' | 'transfer'
  /** The block in which it is mined first. */
  block: number
  fate: Fate
  /** It carries the memo of no order. */
  isStray?: boolean
  /** The second of the order's chains; else the first. */
  isOnSecond?: boolean
}

export interface History {
  payments: readonly Paying[]
  /** The block after which the listener answers that the order is watched. */
  watchedAfter: number
  /** Its database is put back: after block `at` to what it was after block `to`, and it goes on for `unnoticed` blocks before it notices. */
  putBack: { at: number; to: number; unnoticed: number; watchesAtOnce: boolean } | null
  /** The three blocks after the one with which the order ends have its time. */
  isDense?: boolean
  /** A second chain, with a listener of its own, on which the order may be paid or is only watched; its blocks have the times of those of the first. */
  second?: 'offered' | 'not offered'
}

/** A payment where it stands in the end; `block` is null where it is gone for good. */
export interface Standing {
  cents: number
  kind: 'router' | 'transfer'
  block: number | null
  chainId: number
  second: number | null
  /** Its block's time is not after the order's end. */
  isInTime: boolean
  /** Nothing that was confirmed was taken back. */
  isShallow: boolean
  isStray: boolean
}

export const ORDER_ID = '01981f3c-0000-7000-8000-000000000002'
export const MEMO = 'ab'.repeat(32)
const NO_MEMO = 'cd'.repeat(32)
const GENERATIONS = [
  ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002'],
  ['01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-00000000000b'],
] as const
export const [FIRST, SECOND] = [1, 2] as const
const LEASES = ['lease a', 'lease b', 'lease c'] as const

interface Mined {
  payment: number
  height: number
  hash: string
}

interface Listener {
  generation: number
  lease: number
  version: number
  since: number
  readTo: number
  confirmedTo: number
  /** Up to where its confirmed blocks are published. */
  publishedTo: number
  isWatching: boolean
  earlier: { lease: string; version: number }[]
  /** What it published and has not taken back. */
  stated: Mined[]
}

/** Plays a history: the events that the listener of each chain publishes, in the order in which it does, and what stands in the end. */
export function played(history: History): { events: ChainBlocks[]; standing: Standing[] } {
  const chains = (history.second ? [FIRST, SECOND] : [FIRST]).map(chainId => playedOn(chainId, history))
  const standing = history.payments.flatMap((payment, index) => chains[payment.isOnSecond ? 1 : 0]?.standing[index] ?? [])
  return { events: chains.flatMap(({ events }) => events), standing }
}

function playedOn(chainId: typeof FIRST | typeof SECOND, history: History): { events: ChainBlocks[]; standing: Standing[] } {
  const { payments } = history
  const putBack = chainId === FIRST ? history.putBack : null
  const indexesOf = (isMeant: (payment: Paying) => boolean) =>
    payments.flatMap((payment, index) => ((payment.isOnSecond ?? false) === (chainId === SECOND) && isMeant(payment) ? [index] : []))
  const events: ChainBlocks[] = []
  let blocks: { height: number; hash: string; payments: number[] }[] = []
  let listener: Listener = {
    ...{
      generation: 0,
      lease: 0,
      version: 0,
      since: 1,
      readTo: 0,
      confirmedTo: 0,
      publishedTo: 0,
      isWatching: false,
      earlier: [],
      stated: [],
    },
  }
  const backups = new Map([[0, listener]])
  const timeOf = (height: number) => time(secondOf(height, history.isDense))
  const hashOf = (height: number, fork: number) => `${chainId === SECOND ? 'second ' : ''}block ${height}${"'".repeat(fork)}`
  const mine = (height: number, fork: number, inside: number[]) => {
    blocks = [...blocks.filter(block => block.height !== height), { height, hash: hashOf(height, fork), payments: inside }]
  }
  const blockAt = (height: number) => blocks.find(block => block.height === height)
  const isVisible = (payment: number) => payments[payment]?.kind === 'router' || listener.isWatching
  const minedIn = (from: number, to: number): Mined[] =>
    blocks
      .filter(({ height }) => from <= height && height <= to)
      .sort((a, b) => a.height - b.height)
      .flatMap(({ height, hash, payments: inside }) => inside.map(payment => ({ payment, height, hash })))

  const logOf = ({ payment, height, hash }: Mined): BlockPayment => {
    const { cents = 0, kind = 'router', isStray = false } = payments[payment] ?? {}
    return {
      ...{ kind, is_confirmed: height <= listener.confirmedTo, block_number: height, block_hash: hash, log_index: payment },
      ...{
        block_time: timeOf(height).toISOString(),
        tx_hash: `transaction ${payment + 1}`,
        memo: isStray ? NO_MEMO : MEMO,
        amount: formatUsdc(BigInt(cents) * 10_000n),
      },
      ...{ router_address: '0x03', token_address: '0x02', merchant_address: '0x01', payer_address: '0x09' },
      deposit_address: kind === 'transfer' ? '0x04' : null,
    }
  }
  const publish = (change: { gone?: string[]; payments?: Mined[]; through?: number }, isForced = false) => {
    const { publishedTo, confirmedTo } = listener
    const named = [...(change.payments ?? []), ...minedIn(publishedTo + 1, confirmedTo).filter(({ payment }) => isVisible(payment))]
    const distinct = named.filter(
      ({ hash, payment }, index) => named.findIndex(one => one.hash === hash && one.payment === payment) === index,
    )
    if (distinct.length === 0 && !change.gone && change.through === undefined && !isForced) return
    const version = listener.version + 1
    events.push({
      ...{
        chain_id: chainId,
        generation: GENERATIONS[chainId - 1]?.[listener.generation] ?? '',
        lease: LEASES[listener.lease] ?? '',
        version,
      },
      ...{ earlier: listener.earlier, since: listener.since, head: listener.readTo, gone: change.gone ?? [], sweeps: [] },
      advanced: confirmedTo > publishedTo ? { from: publishedTo + 1, to: confirmedTo, time: timeOf(confirmedTo).toISOString() } : null,
      payments: distinct.map(logOf),
      watched: change.through === undefined ? [] : [{ order_id: ORDER_ID, through: change.through }],
    })
    const stated = [...listener.stated.filter(({ hash }) => !change.gone?.includes(hash)), ...distinct]
    listener = { ...listener, version, publishedTo: confirmedTo, stated }
  }
  const rollBack = () => {
    const gone = [...new Set(listener.stated.filter(({ hash, height }) => blockAt(height)?.hash !== hash).map(({ hash }) => hash))]
    const lowest = Math.min(...listener.stated.filter(({ hash }) => gone.includes(hash)).map(({ height }) => height))
    if (gone.length === 0) return
    listener = { ...listener, readTo: Math.min(listener.readTo, lowest - 1) }
    publish({ gone })
  }
  const readTo = (head: number) => {
    rollBack()
    while (listener.readTo < head) {
      const height = listener.readTo + 1
      listener = { ...listener, readTo: height, confirmedTo: Math.max(listener.confirmedTo, height - DEPTH) }
      const inside = minedIn(height, height).filter(({ payment }) => isVisible(payment))
      // Empty blocks are published with the next in which something is; past the end of the order each is looked at, on the second chain late.
      publish(inside.length > 0 ? { payments: inside } : {}, (chainId === FIRST && height === EXPIRES + 1 + DEPTH) || height === LAST)
    }
  }
  const watch = () => {
    listener = { ...listener, isWatching: true }
    // A payment with the memo of no order is not of the order that is asked about.
    const own = minedIn(1, listener.readTo).filter(({ payment }) => !payments[payment]?.isStray)
    publish({ payments: own, through: listener.readTo })
  }

  for (let height = 1; height <= LAST; height++) {
    const first = indexesOf(({ block }) => block === height)
    const again = indexesOf(({ block, fate }) => fate === 'mined again' && block === height - 1)
    mine(height, 0, [...first, ...again])
    readTo(height)
    const isGone = (index: number) => ['gone', 'mined again'].includes(payments[index]?.fate ?? '')
    if (first.some(isGone)) {
      mine(
        height,
        1,
        [...first, ...again].filter(index => again.includes(index) || !isGone(index)),
      )
      readTo(height)
    }
    const taken = indexesOf(({ block, fate }) => fate === 'taken back' && block === height - DEPTH - 1)
    if (taken.length > 0) {
      for (let each = height - DEPTH - 1; each <= height; each++)
        mine(
          each,
          1 + height,
          (blockAt(each)?.payments ?? []).filter(index => !taken.includes(index)),
        )
      readTo(height)
    }
    if (height === history.watchedAfter) watch()
    backups.set(height, listener)
    const backup = putBack?.at === height ? backups.get(putBack.to) : undefined
    if (putBack && backup) {
      const earlier = [{ lease: LEASES[backup.lease] ?? '', version: backup.version }]
      listener = { ...backup, lease: 1, earlier }
      if (putBack.unnoticed > 0) readTo(Math.min(height, backup.readTo + putBack.unnoticed))
      const { confirmedTo } = backup
      listener = {
        ...{ generation: 1, lease: 2, version: 0, since: confirmedTo + 1, readTo: confirmedTo, confirmedTo, publishedTo: confirmedTo },
        ...{ isWatching: false, earlier: [], stated: [] },
      }
      if (putBack.watchesAtOnce) watch()
      readTo(height)
      if (!putBack.watchesAtOnce) watch()
    }
  }
  const standing = payments.map(({ cents, kind, fate, isStray = false }, index): Standing => {
    const block = blocks.find(({ payments: inside }) => inside.includes(index))?.height ?? null
    const second = block === null ? null : secondOf(block, history.isDense)
    const isInTime = second !== null && second <= EXPIRES
    const isUncounted = isStray || (chainId === SECOND && history.second === 'not offered')
    return { cents, kind, block, chainId, second, isInTime, isShallow: fate !== 'taken back', isStray: isUncounted }
  })
  return { events, standing }
}

/** Every history of a scope, the payments in the order of their blocks. */
export interface HistoryScope {
  amounts: readonly (readonly number[])[]
  blocks: readonly number[]
  fates: readonly Fate[]
  kinds?: readonly Paying['kind'][]
  watchedAfter: readonly number[]
  putBacks: readonly History['putBack'][]
  isDense?: boolean
  /** The last one carries the memo of no order. */
  hasStray?: boolean
  second?: History['second']
  /** Each way in which the payments are on the second chain. */
  onSecond?: readonly (readonly boolean[])[]
}

export function* histories(scope: HistoryScope): Iterable<History> {
  const { amounts, watchedAfter, putBacks, isDense = false, hasStray = false, second, onSecond = [[]] } = scope
  const others = second && { second }
  for (const cents of amounts)
    for (const payments of hasStray ? withStray(payings(cents, scope)) : payings(cents, scope))
      for (const places of onSecond)
        for (const after of watchedAfter)
          for (const putBack of putBacks) {
            const placed = payments.map((paying, index) => ({ ...paying, isOnSecond: places[index] ?? false }))
            yield { payments: placed, watchedAfter: after, putBack, isDense, ...others }
          }
}

function* payings([first, ...rest]: readonly number[], scope: HistoryScope, from = 0): Iterable<Paying[]> {
  if (first === undefined) return yield []
  const { blocks, fates, kinds = ['router', 'transfer'] } = scope
  for (const block of blocks.filter(each => each >= from))
    for (const kind of kinds)
      for (const fate of fates) for (const others of payings(rest, scope, block)) yield [{ cents: first, kind, block, fate }, ...others]
}

/** Only a router's payment can carry another memo. */
function* withStray(all: Iterable<Paying[]>): Iterable<Paying[]> {
  for (const payments of all)
    if (payments.at(-1)?.kind === 'router')
      yield payments.map((paying, index) => (index === payments.length - 1 ? { ...paying, isStray: true } : paying))
}
