import fc from 'fast-check'
import type { Payment } from './payment'
import { type Sweep, settledBy, settlements } from './settlement'

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 12, 0, second))
const payment = (id: string, change: Partial<Payment> = {}): Payment => ({
  id,
  kind: 'transfer',
  version: 1,
  generation: null,
  blockHash: null,
  status: 'confirmed',
  grossUnits: 100n,
  payerAddress: '0x09',
  depositAddress: '0x04',
  txHash: `0x${id}`,
  blockNumber: 1n,
  blockTime: at(1),
  logIndex: 0,
  ...change,
})
const sweep = (id: string, grossUnits: bigint, block = 9): Sweep => ({
  id,
  grossUnits,
  txHash: `0x${id}`,
  blockNumber: BigInt(block),
  blockTime: at(block),
  logIndex: 0,
})
const mined = (second: number) => ({ blockNumber: BigInt(second), blockTime: at(second) })
const settled = (...[payments, sweeps, blocked = false]: [Payment[], Sweep[], boolean?]) =>
  Object.fromEntries([...settlements(payments, sweeps, () => blocked)].map(([id, { status, txHash }]) => [id, txHash ?? status]))

describe('what has become of a payment’s money', () => {
  it('a router payment settles itself once it is confirmed', () => {
    const [now, soon] = [payment('a', { kind: 'router' }), payment('b', { kind: 'router', status: 'detected' })]
    expect(settled([now, soon], [])).toEqual({ a: '0xa', b: 'pending' })
  })

  it('a sweep settles what came before it, oldest first', () => {
    const transfers = [payment('late', mined(3)), payment('early', mined(1)), payment('middle', mined(2))]
    expect(settled(transfers, [sweep('s', 200n)])).toEqual({ early: '0xs', middle: '0xs', late: 'pending' })
    expect(settled(transfers, [sweep('t', 100n, 12), sweep('s', 200n)])).toEqual({ early: '0xs', middle: '0xs', late: '0xt' })
  })

  it('a transfer swept in two parts is settled by the second', () => {
    expect(settled([payment('a')], [sweep('s', 40n, 8), sweep('t', 60n, 9)])).toEqual({ a: '0xt' })
    expect(settled([payment('a')], [sweep('s', 40n, 8)])).toEqual({ a: 'pending' })
  })

  it('is pending again when a reorganisation takes the sweep, and blocked while it cannot be swept', () => {
    const transfers = [payment('a', mined(1)), payment('b', mined(2)), payment('c', { ...mined(3), status: 'detected' })]
    expect(settled(transfers, [])).toEqual({ a: 'pending', b: 'pending', c: 'pending' })
    expect(settled(transfers, [sweep('s', 100n)], true)).toEqual({ a: '0xs', b: 'blocked', c: 'blocked' })
    expect(settled([payment('a', { status: 'orphaned' })], [], true)).toEqual({ a: 'pending' })
  })

  it('has reached the merchant once all but dust has, whenever the dust came', () => {
    const by = (...[payments, sweeps]: [Payment[], Sweep[]]) => settledBy(payments, sweeps, units => units < 10n)
    const dust = (second: number) => payment(`d${second}`, { ...mined(second), grossUnits: 1n })
    expect(by([payment('a', { kind: 'router', ...mined(2) }), dust(1), dust(3)], [])).toBe('0xa')
    expect(by([payment('a', mined(1)), dust(3)], [sweep('s', 100n, 2)])).toBe('0xs')
    expect(by([payment('a', mined(2)), dust(1)], [sweep('s', 1n, 1)])).toBeNull()
    expect(
      by(
        Array.from({ length: 10 }, (_, second) => dust(second)),
        [],
      ),
    ).toBeNull()
    expect(by([dust(1)], [])).toBeNull()
  })

  it('any order of arrival gives the same, and what is settled never exceeds what was swept', () => {
    const units = fc.array(fc.bigInt({ min: 1n, max: 1_000n }), { maxLength: 6 })
    fc.assert(
      fc.property(units, units, fc.infiniteStream(fc.nat()), (paid, swept, keys) => {
        const transfers = paid.map((grossUnits, index) => payment(`p${index}`, { ...mined(index), grossUnits }))
        const sweeps = swept.map((grossUnits, index) => sweep(`s${index}`, grossUnits, index))
        const shuffle = <T>(items: T[]) =>
          items
            .map(item => ({ item, key: keys.next().value }))
            .sort((a, b) => a.key - b.key)
            .map(({ item }) => item)
        const inOrder = settled(transfers, sweeps)
        expect(settled(shuffle(transfers), shuffle(sweeps))).toEqual(inOrder)
        const done = transfers.filter(({ id }) => inOrder[id] !== 'pending')
        const total = swept.reduce((sum, each) => sum + each, 0n)
        expect(done.reduce((sum, { grossUnits }) => sum + grossUnits, 0n)).toBeLessThanOrEqual(total)
      }),
    )
  })
})
