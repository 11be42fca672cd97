import { checkPayout, depositAddress, Ponte } from '../src'

describe('an order is held against the configuration of the merchant', () => {
  const [address, router] = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512']
  const memo = 'ab'.repeat(32)
  const payment = {
    ...{ network: 'anvil', chain_id: 31_337, token_address: '0x5FbDB2315678afecb367f032d93F642f64180aa3', router_address: router },
    ...{ merchant_address: address, deposit_address: depositAddress({ router, memo, payoutAddress: address }), gasless: [] },
    ...{ payment_uri: null, checkout_url: 'https://pay.example.com/pay/1', due: '1.000000' },
  }
  const check = (changed: object, more = {}) =>
    checkPayout({ id: '1', memo, payment: { ...payment, ...changed } as never }, { address, router, ...more })
  const other = `0x${'5'.repeat(40)}`

  test('one that pays to it passes, however its addresses are spelt, and without a deposit address too', () => {
    check({})
    check(
      { merchant_address: address.toLowerCase(), router_address: router.toLowerCase() },
      { token: payment.token_address, chainId: 31_337 },
    )
    check({ deposit_address: null })
  })

  test.each([
    ['payout address', { merchant_address: other }, {}],
    ['payout address', { merchant_address: other, deposit_address: depositAddress({ router, memo, payoutAddress: other }) }, {}],
    ['router', { router_address: other }, {}],
    ['router', { router_address: other, deposit_address: depositAddress({ router: other, memo, payoutAddress: address }) }, {}],
    ['deposit address', { deposit_address: other }, {}],
    ['token', { token_address: other }, { token: payment.token_address }],
    ['chain', { chain_id: 1 }, { chainId: 31_337 }],
  ])('another %s is refused: %j', (what, changed, more) => {
    expect(() => check(changed, more)).toThrow(`address_mismatch: Order 1 names the ${what}`)
  })

  describe('on several networks', () => {
    const { chain_id, ...own } = payment
    const there = (change = {}) => ({
      networks: [
        { ...own, chain_id },
        { ...own, chain_id: 137, merchant_address: undefined, ...change },
      ],
    })
    const elsewhere = { merchant_address: other, deposit_address: depositAddress({ router, memo, payoutAddress: other }) }

    test('each pays to the address that was named for it', () => {
      check(there())
      check(there(elsewhere), { addresses: { 137: other } })
    })

    test.each([
      ['payout address', elsewhere, {}],
      ['payout address', {}, { addresses: { 137: other } }],
      ['deposit address', { deposit_address: other }, {}],
      ['router', { router_address: other }, {}],
    ])('another %s on one is refused: %j', (what, change, more) => {
      expect(() => check(there(change), more)).toThrow(`address_mismatch: Order 1 names the ${what}`)
    })
  })

  test('a memo of another order gives another deposit address', () => {
    const elsewhere = { id: '1', memo: 'cd'.repeat(32), payment: payment as never }
    expect(() => checkPayout(elsewhere, { address, router })).toThrow('names the deposit address')
  })

  test('the order of a subscription’s charge is, too', async () => {
    const id = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
    const answering = (changed: object) =>
      new Ponte('pk_x', {
        ...{ baseUrl: 'https://pay.example.com', maxRetries: 0, payout: { address, router } },
        fetch: async () => ({
          ...{ status: 200, headers: { get: () => null } },
          text: async () => JSON.stringify({ id, memo, payment: { ...payment, ...changed } }),
        }),
      })
    await expect(answering({}).subscriptions.charge(id)).resolves.toMatchObject({ id })
    await expect(answering({ merchant_address: other }).subscriptions.charge(id)).rejects.toThrow('address_mismatch')
  })

  test.each([
    { address: '0x12', router },
    { address, router: `0x${'0'.repeat(40)}` },
  ])('a configuration that is none is an error: %j', payout => {
    expect(() => checkPayout({ id: '1', memo, payment: payment as never }, payout)).toThrow('invalid_argument')
  })
})
