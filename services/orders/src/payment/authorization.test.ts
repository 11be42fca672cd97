import { type Authorization, comingUnits, shownAuthorization } from './authorization'
import type { Payment } from './payment'

const PAYER = `0x${'aB'.repeat(20)}`
const signed: Authorization = {
  chainId: 1,
  status: 'accepted',
  payerAddress: PAYER,
  grossUnits: 10_000_000n,
  validBefore: 1_795_000_000,
  txHash: null,
  reason: null,
}
const payment: Payment = {
  ...{
    id: 'p',
    kind: 'router',
    status: 'detected',
    version: 1,
    generation: null,
    blockHash: null,
    grossUnits: 10_000_000n,
    payerAddress: PAYER.toLowerCase(),
  },
  ...{ depositAddress: null, txHash: '0x1', blockNumber: 1n, blockTime: new Date(0), logIndex: 0 },
}

describe("what a payer's signature will bring", () => {
  it('is its amount from when it is taken until it is paid or has failed', () => {
    expect(comingUnits([], [])).toBe(0n)
    expect(comingUnits([signed], [])).toBe(10_000_000n)
    expect(comingUnits([{ ...signed, status: 'submitted' }], [])).toBe(10_000_000n)
    expect(comingUnits([{ ...signed, status: 'paid' }], [])).toBe(0n)
    expect(comingUnits([{ ...signed, status: 'failed' }], [])).toBe(0n)
  })
  it('is nothing more once its own payment is seen, and is coming again when that is taken back', () => {
    const submitted: Authorization = { ...signed, status: 'submitted', txHash: '0x1' }
    expect(comingUnits([submitted], [payment])).toBe(0n)
    expect(comingUnits([submitted], [{ ...payment, status: 'orphaned' }])).toBe(10_000_000n)
  })
  it('is not brought by the same amount that its payer paid before', () => {
    expect(comingUnits([signed], [payment])).toBe(10_000_000n)
    expect(comingUnits([{ ...signed, status: 'submitted', txHash: '0x2' }], [payment])).toBe(10_000_000n)
  })
  it('is the sum of those of all networks, and the one that is on its way is shown', () => {
    const failed: Authorization = { ...signed, status: 'failed' }
    const other: Authorization = { ...signed, chainId: 2, grossUnits: 5_000_000n }
    expect(comingUnits([signed, other], [])).toBe(15_000_000n)
    expect(comingUnits([failed, other], [])).toBe(5_000_000n)
    expect(shownAuthorization([failed, other])).toBe(other)
    expect(shownAuthorization([{ ...other, status: 'paid' }, failed])).toBe(failed)
    expect(shownAuthorization([])).toBeNull()
  })
})
