import { depositAddress, paymentRouterAbi } from '@ponte/payment-router'
import { Interface } from 'ethers'
import fc from 'fast-check'
import type { RawLog } from '../rpc/raw-log'
import { toSeenLogs } from './filter'
import { decodePayment, MalformedLogError, placeOf, toNumber } from './payment-received'

const ZERO = `0x${'0'.repeat(64)}`
const router = new Interface(paymentRouterAbi)
const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(array => Buffer.from(array).toString('hex'))
const word = hex(32).map(text => `0x${text}`)
const address = hex(20).map(text => `0x${text}`)
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

const log = fc
  .record({ memo: word, merchant: address, payer: address, share: uint256, fee: uint256, router: address, tx: word, block: word })
  .map(fields => {
    const { topics, data } = router.encodeEventLog('PaymentReceived', [
      fields.memo,
      fields.merchant,
      fields.payer,
      fields.share,
      fields.fee,
    ])
    const raw: RawLog = {
      address: fields.router,
      topics,
      data,
      blockHash: fields.block,
      blockNumber: '0x10',
      blockTimestamp: '0x6b00daea',
      transactionHash: fields.tx,
      logIndex: '0x3',
      removed: false,
    }
    return raw
  })

it.each([null, {}, { topics: [] }, [], 'x'])('%j among logs is a wrong answer, and so is a log that no block has', entry => {
  const watch = {
    routers: [],
    token: `0x${'1'.repeat(40)}`,
    transfers: 'all' as const,
    chainId: 1,
    header: null,
    latestTime: () => 0,
  }
  expect(() => toSeenLogs([[entry]], watch)).toThrow(MalformedLogError)
  const place = { transactionHash: ZERO, blockHash: ZERO, blockNumber: '0x1', removed: false }
  expect(() => placeOf({ ...place, address: watch.token, topics: [], data: '0x', logIndex: '0xffffffff' })).toThrow(MalformedLogError)
})

describe('a PaymentReceived log', () => {
  it("is decoded as ethers' Interface decodes it, whatever its values", () => {
    fc.assert(
      fc.property(log, raw => {
        const theirs = router.parseLog({ topics: [...raw.topics], data: raw.data })?.args
        const ours = decodePayment(raw)
        expect({
          memo: `0x${ours.memo}`,
          merchant: ours.merchant,
          payer: ours.payer,
          amount: ours.amount,
          fee: ours.fee,
          kind: ours.kind,
        }).toEqual({
          memo: theirs?.memo,
          merchant: theirs?.merchant.toLowerCase(),
          payer: theirs?.payer.toLowerCase(),
          amount: theirs?.merchantShare + theirs?.fee,
          fee: theirs?.fee,
          kind: 'router',
        })
        expect(ours).toMatchObject({
          router: raw.address,
          txHash: raw.transactionHash,
          logIndex: 3,
          blockNumber: 16,
          blockHash: raw.blockHash,
          blockTime: 0x6b00daea,
        })
      }),
      { numRuns: 500 },
    )
  })

  it('is a sweep when its payer is the deposit address of its memo and merchant, and of no other', () => {
    const [raw] = fc.sample(log, { numRuns: 1, seed: 7 })
    if (!raw) throw new Error('no sample')
    const { memo, merchant, router: paid } = decodePayment(raw)
    const payerOf = (of: { memo: string; merchant: string; router: string }) =>
      decodePayment({ ...raw, topics: raw.topics.with(3, `0x${'0'.repeat(24)}${depositAddress(of).slice(2).toLowerCase()}`) })
    const own = depositAddress({ router: paid, memo, merchant }).toLowerCase()
    expect(payerOf({ router: paid, memo, merchant })).toMatchObject({ kind: 'sweep', payer: own, deposit: own })
    const others = [
      { router: paid, memo: 'ab'.repeat(32), merchant },
      { router: paid, memo, merchant: `0x${'cd'.repeat(20)}` },
      { router: `0x${'ef'.repeat(20)}`, memo, merchant },
    ]
    for (const of of others) expect(payerOf(of)).toMatchObject({ kind: 'router', deposit: null })
  })

  it('is refused when a byte is missing, too many, or of another event', () => {
    const [raw] = fc.sample(log, { numRuns: 1, seed: 7 })
    if (!raw) throw new Error('no sample')
    const broken: RawLog[] = [
      { ...raw, topics: raw.topics.slice(0, 3) },
      { ...raw, topics: [...raw.topics, raw.topics[1] ?? ''] },
      { ...raw, topics: [raw.topics[1] ?? '', ...raw.topics.slice(1)] },
      { ...raw, topics: [raw.topics[0] ?? '', raw.topics[1] ?? '', `0x${'1'.repeat(64)}`, raw.topics[3] ?? ''] },
      { ...raw, data: raw.data.slice(0, -2) },
      { ...raw, data: `${raw.data}00` },
      { ...raw, data: raw.data.replace(/.$/, 'g') },
      { ...raw, transactionHash: '0x' },
      { ...raw, address: '0x12' },
      { ...raw, blockNumber: 'latest' },
      { ...raw, removed: true },
      { ...raw, topics: raw.topics.with(1, ZERO) },
      { ...raw, topics: raw.topics.with(2, ZERO) },
    ]
    for (const log of broken) expect(() => decodePayment(log)).toThrow(MalformedLogError)
  })
})

describe('a quantity', () => {
  it('is read exactly or not at all', () => {
    expect(toNumber('0x0')).toBe(0)
    expect(toNumber('0xfffffffffffff')).toBe(2 ** 52 - 1)
    for (const wrong of ['', '0x', '12', 12, null, '0x1fffffffffffffff', '0xZZ']) expect(() => toNumber(wrong)).toThrow(MalformedLogError)
  })
})
