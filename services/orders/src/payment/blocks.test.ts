import { type Blocks, changesOf } from './blocks'
import type { Payment, Stated } from './payment'

const [OLD, NOW, NEXT] = [
  '01900000-0000-7000-8000-000000000001',
  '01900000-0000-7000-8000-000000000002',
  '01900000-0000-7000-8000-000000000003',
]
const payment = (id: string, change: Partial<Payment> = {}): Payment => ({
  ...{ id, kind: 'transfer', status: 'detected', grossUnits: 1n, payerAddress: '0x09', depositAddress: '0x04', txHash: `0x${id}` },
  ...{ blockNumber: 10n, blockTime: new Date(0), logIndex: 0, blockHash: '0xb', generation: NOW, version: 5, ...change },
})
const blocks = (change: Partial<Blocks> = {}): Blocks => ({
  ...{ generation: NOW, version: 7, advanced: null, gone: new Set<string>(), goneAt: () => undefined, isConfirmed: () => false },
  ...change,
})
const range = (from: number, to: number) => ({ advanced: { from: BigInt(from), to: BigInt(to) } })
const watched = { isWatched: true, through: null }
const unwatched = { isWatched: false, through: null }
const states = (payments: readonly Payment[]) => payments.map(({ id, status }) => `${id} ${status}`)
const after = (known: Payment[], reported: Payment[], by: Partial<Blocks> = {}, coverage: Parameters<typeof changesOf>[3] = watched) =>
  states(changesOf(known, reported, blocks(by), coverage))

describe('what is reported', () => {
  it('is taken in whichever way it is new, and a copy changes nothing', () => {
    expect(after([], [payment('a')])).toEqual(['a detected'])
    expect(after([payment('a')], [payment('a', { status: 'confirmed', version: 7 })])).toEqual(['a confirmed'])
    expect(after([payment('a', { status: 'confirmed', version: 7 })], [payment('a', { status: 'confirmed', version: 7 })])).toEqual([])
  })

  it('as confirmed is taken in under an older version of the same generation, which a listener that was put back gives it', () => {
    expect(after([payment('a', { version: 9 })], [payment('a', { status: 'confirmed', version: 7 })])).toEqual(['a confirmed'])
    expect(after([payment('a', { generation: NEXT })], [payment('a', { status: 'confirmed', version: 7 })])).toEqual([])
    const goneAt = (): Stated => ({ generation: NOW, version: 8 })
    const seen = payment('a', { version: 9 })
    expect(after([seen], [payment('a', { status: 'confirmed', version: 7 })], { goneAt })).toEqual([])
  })

  it('late changes nothing: the later statement holds, within a generation and between them', () => {
    expect(after([payment('a', { status: 'orphaned', version: 9 })], [payment('a', { version: 7 })])).toEqual([])
    expect(after([payment('a', { status: 'orphaned', generation: NEXT })], [payment('a', { version: 99 })])).toEqual([])
  })

  it('of a block that is gone is not brought back by an older statement, and by a newer one it is', () => {
    const goneAt = (): Stated => ({ generation: NOW, version: 8 })
    expect(after([], [payment('a', { status: 'confirmed', version: 7 })], { goneAt })).toEqual(['a orphaned'])
    expect(after([], [payment('a', { status: 'confirmed', version: 9 })], { version: 9, goneAt })).toEqual(['a confirmed'])
  })

  it('as not confirmed in a block that is, is not there: the confirmed range has not named it', () => {
    expect(after([], [payment('a')], { isConfirmed: block => block === 10n })).toEqual(['a orphaned'])
  })

  it('as not confirmed by a newer generation does not undo a confirmation of the older one', () => {
    const known = payment('a', { status: 'confirmed', generation: OLD })
    expect(after([known], [payment('a')])).toEqual(['a confirmed'])
  })
})

describe('what is not reported', () => {
  it('in a confirmed range is orphaned: of the router always, at an address while it is watched', () => {
    const known = [payment('a'), payment('b', { kind: 'router' }), payment('c', { blockNumber: 21n })]
    expect(after(known, [], range(10, 20))).toEqual(['a orphaned', 'b orphaned'])
    expect(after(known, [], range(10, 20), unwatched)).toEqual(['b orphaned'])
  })

  it('in a confirmed range of an older statement stays', () => {
    expect(after([payment('a', { version: 9 })], [], range(10, 20))).toEqual([])
  })

  it('in blocks that the answer to a watch has read is orphaned, whichever generation had reported it', () => {
    const known = [payment('a', { generation: OLD, version: 99 }), payment('b', { generation: null }), payment('c', { blockNumber: 21n })]
    expect(after(known, [], {}, { isWatched: true, through: 20n })).toEqual(['a orphaned', 'b orphaned'])
  })

  it('in blocks that were confirmed before the answer to a watch is orphaned by that answer', () => {
    const known = [payment('a', { generation: OLD, version: 99 }), payment('c', { blockNumber: 21n }), payment('d', { version: 9 })]
    const isConfirmed = (block: bigint) => block <= 20n
    expect(after(known, [], { isConfirmed }, { isWatched: true, through: 1n })).toEqual(['a orphaned', 'd orphaned'])
  })

  it('because of an answer that came late keeps its own version, which what is stated later finds older', () => {
    const known = payment('a', { version: 9 })
    const [late] = changesOf([known], [], blocks({ version: 1, isConfirmed: () => true }), { isWatched: true, through: 0n })
    expect(late).toEqual({ ...known, status: 'orphaned' })
    expect(after([known], [], { version: 1, generation: OLD, isConfirmed: () => true }, { isWatched: true, through: 0n })).toEqual([])
  })

  it('but was confirmed is never undone by an absence', () => {
    const known = payment('a', { status: 'confirmed', generation: OLD })
    expect(after([known], [], range(0, 99), { isWatched: true, through: 99n })).toEqual([])
  })

  it('because its block is gone is orphaned, confirmed or not; a late word of that changes nothing', () => {
    const gone = new Set(['0xb'])
    const known = [payment('a'), payment('b', { status: 'confirmed' }), payment('c', { blockHash: '0xc' })]
    expect(after(known, [], { gone }, unwatched)).toEqual(['a orphaned', 'b orphaned'])
    expect(after([payment('a', { status: 'confirmed', version: 9 })], [], { gone })).toEqual([])
  })
})
