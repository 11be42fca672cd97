import fc from 'fast-check'
import { MalformedLogError, type SeenPayment } from './payment-received'
import { decodeTransfer, payoutAddress, type SeenTransfer, TRANSFER_TOPIC, toDeposits, topicOf, withoutMoved } from './transfer'

const token = `0x${'a0'.repeat(20)}`
const address = `0x${'0d'.repeat(20)}`
const payer = `0x${'0c'.repeat(20)}`
const deposit = { address, memo: 'c0'.repeat(32), merchant: `0x${'02'.repeat(20)}`, router: `0x${'01'.repeat(20)}` }
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
const log = (fields: object = {}) => ({
  address: token,
  topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(address)],
  data: word(10_000_000n),
  blockHash: word(7n),
  blockNumber: '0x10',
  transactionHash: word(8n),
  logIndex: '0x2',
  ...fields,
})
const decode = (fields?: object) => toDeposits([decodeTransfer(log(fields), token)], new Map([[address, deposit]]))[0]

describe('a transfer of the token', () => {
  it('to a deposit address is a payment of its order, of all that was sent, by whom the log names', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), amount => {
        const { memo, merchant, router } = deposit
        const payment = decode({ data: word(amount) })
        expect(payment).toMatchObject({ kind: 'transfer', memo, merchant, router, payer, deposit: address, amount, logIndex: 2 })
      }),
    )
  })

  it.each([
    ['elsewhere', { topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(payer)] }],
    ['of nothing, which anyone may make', { data: word(0n) }],
  ])('%s is none', (_, fields) => {
    expect(decode(fields)).toBeUndefined()
  })

  it.each([
    ['of another token', { address: payer }],
    ['that is another event', { topics: [word(1n), topicOf(payer), topicOf(address)] }],
    ['with its amount as a topic', { topics: [TRANSFER_TOPIC, topicOf(payer), topicOf(address), word(1n)] }],
    ['whose amount is no word', { data: '0x' }],
    ['taken back', { removed: true }],
  ])('%s cannot come from the token', (_, fields) => {
    expect(() => decode(fields)).toThrow(MalformedLogError)
  })
})

describe('a transfer to a payout address', () => {
  const [shop, other, platform] = [`0x${'5a'.repeat(20)}`, `0x${'5b'.repeat(20)}`, `0x${'fe'.repeat(20)}`]
  const payouts = new Map([shop, other].map(each => [each, payoutAddress(each)]))
  const place = (logIndex: number, tx = 'aa') => ({ ...{ txHash: tx, logIndex }, blockNumber: 7, blockHash: '0xb', blockTime: 1 })
  const moved = (logIndex: number, from: string, to: string, amount: bigint, tx?: string): SeenTransfer => ({
    ...place(logIndex, tx),
    from,
    to,
    amount,
  })
  const paid = (logIndex: number, merchant: string, amount: bigint, fee: bigint, more: Partial<SeenPayment> = {}): SeenPayment => ({
    ...{ ...place(logIndex), kind: 'router', router: deposit.router, memo: deposit.memo, merchant, payer, amount, fee, deposit: null },
    ...more,
  })
  /** A router's own logs: fee, share, statement. */
  const routed = (first: number, merchant: string, amount: bigint, fee: bigint, from = payer, to = platform) => ({
    transfers: [moved(first, from, to, fee), moved(first + 1, from, merchant, amount - fee)],
    paid: paid(first + 2, merchant, amount, fee, { payer: from }),
  })
  const plainOf = (transfers: readonly SeenTransfer[], payments: readonly SeenPayment[], watched = payouts) =>
    withoutMoved([...payments, ...toDeposits(transfers, watched)])
      .filter(({ kind }) => kind === 'transfer')
      .map(({ logIndex, amount, merchant }) => [logIndex, amount, merchant])

  it('is of no memo and no router, and who sent it is its payer', () => {
    const [plain] = toDeposits([moved(3, payer, shop, 5n)], payouts)
    expect(plain).toMatchObject({ kind: 'transfer', memo: '0'.repeat(64), merchant: shop, payer, deposit: shop, amount: 5n, fee: null })
  })

  it('by which a router moved a share is none; of equal ones in the transaction, those before and behind it are', () => {
    const { transfers, paid: statement } = routed(2, shop, 100n, 1n)
    expect(plainOf(transfers, [statement])).toEqual([])
    const all = [moved(0, payer, shop, 99n), moved(1, payer, shop, 99n), ...transfers, moved(5, payer, shop, 99n)]
    expect(plainOf(all, [statement]).map(([logIndex]) => logIndex)).toEqual([0, 1, 5])
    expect(plainOf([...all, moved(3, payer, shop, 99n, 'bb')], [statement])).toHaveLength(4)
  })

  it('each statement takes one, to its own merchant', () => {
    const [first, second, third] = [routed(1, shop, 100n, 1n), routed(4, shop, 100n, 1n), routed(8, other, 100n, 1n)]
    const all = [moved(0, payer, shop, 99n), ...first.transfers, ...second.transfers, moved(7, payer, other, 99n), ...third.transfers]
    expect(plainOf(all, [third.paid, first.paid, second.paid])).toEqual([
      [0, 99n, shop],
      [7, 99n, other],
    ])
  })

  it('is none where a deposit address was swept, with or without the fee', () => {
    const swept = { ...paid(2, shop, 100n, 0n), kind: 'sweep' as const, payer: address, deposit: address }
    expect(plainOf([moved(1, address, shop, 100n)], [swept])).toEqual([])
    expect(plainOf([moved(0, address, shop, 100n), moved(1, address, shop, 100n)], [swept])).toEqual([[0, 100n, shop]])
  })

  it('is none where it is the fee of a payment, also when only its receiver is watched; an equal one further off is', () => {
    const { transfers, paid: statement } = routed(3, shop, 100n, 1n, payer, other)
    expect(plainOf(transfers, [statement])).toEqual([])
    expect(plainOf(transfers, [statement], new Map([[other, payoutAddress(other)]]))).toEqual([])
    expect(plainOf([moved(1, payer, other, 1n), ...transfers], [statement])).toEqual([[1, 1n, other]])
    const elsewhere = routed(3, shop, 100n, 1n)
    expect(plainOf([moved(2, payer, other, 1n), ...elsewhere.transfers], [elsewhere.paid])).toEqual([[2, 1n, other]])
  })

  it('that a merchant makes to its own address moves nothing, and the payment of the merchant to itself takes its own', () => {
    expect(plainOf([moved(1, shop, shop, 99n)], [])).toEqual([])
    const own = routed(2, shop, 100n, 1n, shop)
    expect(plainOf([moved(0, payer, shop, 99n), ...own.transfers], [own.paid])).toEqual([[0, 99n, shop]])
  })

  it('of nothing is none, one that was minted is, and a deposit address stays one', () => {
    expect(plainOf([moved(1, payer, shop, 0n), moved(2, `0x${'0'.repeat(40)}`, shop, 7n)], [])).toEqual([[2, 7n, shop]])
    const both = withoutMoved(toDeposits([moved(1, payer, address, 7n)], new Map([...payouts, [address, deposit]])))
    expect(both).toMatchObject([{ memo: deposit.memo }])
  })

  it('of any transaction: what is plain and what routers moved come to all that reached the address, whatever a contract does between', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('plain' as const), amount: fc.constantFrom(99n, 100n, 1n), to: fc.constantFrom(shop, other) }),
      fc.record({
        kind: fc.constant('paid' as const),
        amount: fc.constantFrom(100n, 101n),
        to: fc.constantFrom(shop, other),
        receiver: fc.constantFrom(shop, platform),
      }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), steps => {
        const receiver = steps.find(one => one.kind === 'paid')?.receiver ?? platform
        let next = 0
        const transfers: SeenTransfer[] = []
        const payments: SeenPayment[] = []
        const plain: number[] = []
        for (const { kind, amount, to } of steps) {
          if (kind === 'plain') {
            plain.push(next)
            transfers.push(moved(next++, payer, to, amount))
            continue
          }
          const { transfers: two, paid: statement } = routed(next, to, amount, 1n, payer, receiver)
          transfers.push(...two)
          payments.push(statement)
          next += 3
        }
        expect(plainOf(transfers, payments).map(([logIndex]) => logIndex)).toEqual(plain)
      }),
    )
  })
})
