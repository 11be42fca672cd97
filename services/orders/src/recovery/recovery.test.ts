import type { RecoveryObserved } from '@ponte/contracts'
import { COIN, type ForeignToken, foreignIn, observe, recoveryBody, requestRecovery, requireRecoverable, statusOf } from './recovery'

const [DEPOSIT, USDC, OTHER] = [`0x${'1'.repeat(40)}`, `0x${'A'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const
const PAYOUT = `0x${'2'.repeat(40)}`
const SHOP = { chainId: 1, merchantAddress: PAYOUT, merchantAddresses: {}, networks: [] }
const [EARLIER, AT, LATER] = [1, 2, 3].map(day => new Date(Date.UTC(2026, 10, day))) as [Date, Date, Date]
const order = { depositAddress: DEPOSIT, tokenAddress: USDC }
const sent = (token_address: string | null, units: string, to_address: string = DEPOSIT) => ({ token_address, to_address, units })
const token: ForeignToken = {
  ...{
    id: 'f',
    orderId: 'o',
    merchantId: 'm',
    chainId: 1,
    tokenAddress: OTHER,
    units: 5n,
    txHash: '0x5b',
    sentAt: EARLIER,
    foundAt: EARLIER,
  },
  ...{ version: 0, recoveryId: null, requestedBy: null, requestedAt: null, watchFrom: null, generation: null, revision: 0, knownAt: null },
  ...{ failureCode: null, recoveredUnits: null, recoveryTxHash: null, blockNumber: null, blockTime: null },
}
const END = { tx_hash: '0xed', block_number: 9, block_time: AT.toISOString(), units: '7' }
const stated = (change: Partial<RecoveryObserved> = {}): RecoveryObserved => ({
  ...{ chain_id: 1, generation: 'g', revision: 1, recovery_id: 'r1', order_id: 'o', token_address: OTHER, end: null, failure_code: null },
  ...change,
})
const request = (of: ForeignToken, id = 'r1', watermark = 4n) => requestRecovery(of, { id, by: 'ana', watermark }, AT)
const asked = request(token) as ForeignToken

describe('a foreign token', () => {
  it('is what a confirmed transaction sent to the deposit address and no order takes, summed, and the coin', () => {
    const transfers = [sent(OTHER, '2'), sent(USDC.toLowerCase(), '9'), sent(OTHER, '3'), sent(null, '1'), sent(OTHER, '8', PAYOUT)]
    expect(foreignIn(order, { transfers, depth: 3 }, 3)).toEqual([
      { tokenAddress: OTHER, units: 5n },
      { tokenAddress: COIN, units: 1n },
    ])
    expect(foreignIn(order, { transfers, depth: 2 }, 3)).toEqual([])
    // Its logs may state more than any balance holds, and than the column of amounts.
    const most = 2n ** 256n - 1n
    const many = Array.from({ length: 150 }, () => sent(OTHER, String(most)))
    expect(foreignIn(order, { transfers: many, depth: 3 }, 3)).toEqual([{ tokenAddress: OTHER, units: most }])
    expect(foreignIn({ ...order, depositAddress: null }, { transfers, depth: 3 }, 3)).toEqual([])
  })
})

describe('a recovery', () => {
  it('is one at a time, and once it is done none is needed until more comes', () => {
    expect([statusOf(token), statusOf(asked), request(asked)]).toEqual([null, 'pending', null])
    const done = observe(asked, stated({ end: END }), LATER) as ForeignToken
    expect([statusOf(done), request(done), recoveryBody(done, SHOP)]).toMatchObject([
      'confirmed',
      null,
      { status: 'confirmed', amount: '7', tx_hash: '0xed', confirmed_at: AT.toISOString(), destination: PAYOUT },
    ])
    const more = { ...done, sentAt: LATER }
    // Whatever the listener follows, the log of the first ends nothing of the second.
    expect([statusOf(more), request(more, 'r2')]).toMatchObject([null, { recoveryId: 'r2', watchFrom: 10n, blockTime: null, revision: 0 }])
    expect(request(more, 'r2', 30n)).toMatchObject({ watchFrom: 30n })
  })
  it('that failed is asked for again', () => {
    const failed = observe(asked, stated({ failure_code: 'refused' }), LATER) as ForeignToken
    expect(recoveryBody(failed, SHOP)).toMatchObject({ status: 'failed', failure_code: 'refused' })
    expect(request(failed, 'r2')).toMatchObject({ recoveryId: 'r2', failureCode: null })
  })
  it('is what the newest statement has of it, in any order, and is taken back by a reorganisation', () => {
    const done = observe(asked, stated({ revision: 2, end: END }), LATER) as ForeignToken
    for (const older of [
      stated({ revision: 1 }),
      stated({ revision: 2 }),
      stated({ generation: 'f', revision: 9 }),
      stated({ recovery_id: 'r0', revision: 9 }),
    ])
      expect(observe(done, older, LATER)).toBeNull()
    expect(statusOf(observe(done, stated({ revision: 3 }), LATER) as ForeignToken)).toBe('pending')
    expect(statusOf(observe(done, stated({ generation: 'h' }), LATER) as ForeignToken)).toBe('pending')
  })
  it('that this database has lost is taken up again', () => {
    for (const one of [token, asked])
      expect(observe(one, stated({ recovery_id: 'r2' }), LATER)).toMatchObject({ recoveryId: 'r2', requestedAt: LATER })
  })
  it.each([
    ['token_address', USDC.toLowerCase(), PAYOUT],
    ['token_address', COIN, PAYOUT],
    ['destination', OTHER, DEPOSIT],
    ['destination', null, DEPOSIT],
  ])('is refused for its %s', (path, token_address, destination) => {
    const terms = { merchantAddress: PAYOUT, tokenAddress: USDC, memo: '', routerAddress: '' }
    expect(() => requireRecoverable(terms, { token_address, destination })).toThrow(path)
    expect(() => requireRecoverable(terms, { token_address: OTHER, destination: PAYOUT })).not.toThrow()
  })
})
