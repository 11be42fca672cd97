import type { EventData } from '@ponte/contracts'
import { faults, type LocalChain, mined, startFaultProxy, startLocalChain } from '@ponte/local-servers'
import { deployContractWallet, depositImplementation, testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract, Wallet } from 'ethers'
import request from 'supertest'
import { charge, message } from './listener'
import { asMerchant, merchantId, PAYOUT, startOrders } from './setup'

let chain: LocalChain
let system: Awaited<ReturnType<typeof startOrders>>
beforeAll(async () => {
  chain = await startLocalChain()
  system = await startOrders({
    RPC_URLS: chain.rpcUrl,
    TOKEN_ADDRESS: chain.usdcAddress,
    ROUTER_ADDRESS: chain.routerAddress,
    DEPOSIT_FACTORY: chain.routerAddress,
    PLATFORM_FEE_BPS: String(chain.feeBps),
  })
})
afterAll(async () => {
  await system?.stop()
  await chain?.stop()
})

const open = (payout: string) => request(system.url).post('/api/v1/orders').set(asMerchant(merchantId, payout)).send({ brl_amount: '10' })
const ask = (address: string) => request(system.url).get(`/api/v1/payout-addresses/${address}`).set(asMerchant())
const setBlocked = async (account: string, blocked: boolean) => {
  const usdc = new Contract(chain.usdcAddress, testUsdcAbi, await chain.provider.getSigner(0))
  await mined(usdc.getFunction('setBlacklisted').send(account, blocked))
}

describe('a payout address that cannot be paid is refused when it is set and when an order is opened', () => {
  it.each([
    ['the zero address', () => `0x${'0'.repeat(40)}`, 'is the zero address'],
    ['the router', () => chain.routerAddress, 'is the payment router'],
    ['the router in lower case', () => chain.routerAddress.toLowerCase(), 'is the payment router'],
    ['the token', () => chain.usdcAddress, 'is the token itself'],
    ['the deposit addresses’ implementation', () => depositImplementation(chain.routerAddress), 'is a contract of the payment router'],
  ])('%s', async (_, address, why) => {
    for (const answer of [await open(address()), await ask(address())]) {
      expect([answer.status, answer.body.code]).toEqual([422, 'payout_address_refused'])
      expect(answer.body.detail).toContain(why)
      expect(answer.body.detail).toContain('PATCH /api/v1/merchants/me')
    }
  })

  it('the deposit address of any order', async () => {
    const { body } = await open(PAYOUT)
    const address = body.payment.deposit_address
    for (const answer of [await open(address), await ask(address.toLowerCase())]) {
      expect([answer.status, answer.body.code]).toEqual([422, 'payout_address_refused'])
      expect(answer.body.detail).toContain('is the deposit address of an order')
    }
  })

  it('an account that the token’s issuer has blocked', async () => {
    const account = chain.wallet(7).address
    await setBlocked(account, true)
    for (const answer of [await ask(account), await open(account)]) {
      expect([answer.status, answer.body.code]).toEqual([422, 'payout_address_refused'])
      expect(answer.body.detail).toContain('is blocked by the issuer')
    }
  })

  it('any other is taken, in EIP-55 form', async () => {
    expect((await open(PAYOUT)).status).toBe(201)
    expect(await ask(PAYOUT.toLowerCase())).toMatchObject({
      status: 200,
      body: { object: 'payout_address', address: PAYOUT, is_contract: false },
    })
    expect((await ask('0x12')).status).toBe(400)
  })
})

describe('a payout address that is a contract', () => {
  const created = async (orderId: string) => {
    const { rows } = await system.sql.query(
      "SELECT body::jsonb->'data'->'orders'->0->'merchant_is_contract' AS contract FROM outbox WHERE body::jsonb->'data'->'orders'->0->>'order_id' = $1",
      [orderId],
    )
    return rows[0]?.contract
  }

  it('is taken, marked as one, and named as one to the listener', async () => {
    const wallet = await deployContractWallet(chain, PAYOUT)
    expect(await ask(wallet)).toMatchObject({ status: 200, body: { address: wallet, is_contract: true } })
    expect(await created((await open(wallet)).body.id)).toBe(true)
    expect(await created((await open(PAYOUT)).body.id)).toBe(false)
  })

  it('is none when it is an account that delegates to a contract: its key has it on every chain', async () => {
    const account = chain.wallet(6).address
    await chain.provider.send('anvil_setCode', [account, `0xef0100${chain.usdcAddress.slice(2)}`])
    expect(await ask(account)).toMatchObject({ status: 200, body: { is_contract: false } })
  })

  it('cannot be determined while no node answers: then no address is set, and orders are opened all the same', async () => {
    const proxy = await startFaultProxy(chain.rpcUrl)
    const other = await startOrders({ RPC_URLS: proxy.url, TOKEN_ADDRESS: chain.usdcAddress, ROUTER_ADDRESS: chain.routerAddress })
    proxy.set(faults.hangUp())
    const answer = await request(other.url).get(`/api/v1/payout-addresses/${PAYOUT}`).set(asMerchant())
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'service_unavailable', '30'])
    expect((await request(other.url).post('/api/v1/orders').set(asMerchant()).send({ brl_amount: '10' })).status).toBe(201)
    await other.stop()
    await proxy.stop()
  })
})

it('a charge whose payout address is refused waits, holds up no other, and is opened once there is a good one', async () => {
  const account = chain.wallet(8).address
  await setBlocked(account, true)
  const terms = { merchant_id: '01981f3c-0000-7000-8000-000000000009', version: 1, display_name: 'Padaria', payout_address: account }
  const [refused, other] = [charge({ terms }), charge()]
  for (const wanted of [refused, other]) await system.bus.publish(message('subscription.charge_requested', wanted))
  const status = async (id: string, merchant: string) =>
    (await request(system.url).get(`/api/v1/orders/${id}`).set(asMerchant(merchant))).status
  expect([await status(refused.order_id, terms.merchant_id), await status(other.order_id, merchantId)]).toEqual([404, 200])
  const repaired = { ...terms, version: 2, payout_address: PAYOUT }
  await system.bus.publish(
    message('merchant.updated', {
      ...repaired,
      webhook_url: null,
      sealed_webhook_secret: 'sealed',
      sealed_pending_webhook_secret: null,
      pending_webhook_secret_activates_at: null,
    }),
  )
  await until(async () => (await status(refused.order_id, terms.merchant_id)) === 200, 'the charge still waits')
})

describe('what the key of a payout address signed', () => {
  const merchant = '01981f3c-0000-7000-8000-00000000000a'
  const publish = (version: number, payout_address: string | null, payout_proof?: EventData<'merchant.updated'>['payout_proof']) =>
    system.bus.publish(
      message('merchant.updated', {
        ...{ merchant_id: merchant, version, display_name: 'Padaria', payout_address, payout_proof },
        ...{ webhook_url: null, sealed_webhook_secret: 'sealed', sealed_pending_webhook_secret: null },
        pending_webhook_secret_activates_at: null,
      }),
    )
  const proof = (text: string, second: number) => ({
    ...{ message: text, signature: `0x${'1b'.repeat(65)}`, signed_at: `2026-11-28T12:00:0${second}.000Z` },
  })
  const kept = async () => {
    await system.orders.idle()
    const { rows } = await system.sql.query('SELECT payout_address, message FROM payout_proofs WHERE merchant_id = $1 ORDER BY message', [
      merchant,
    ])
    return rows.map(({ payout_address, message: text }) => [payout_address, text])
  }
  const [one, two] = [PAYOUT, Wallet.createRandom().address]

  it('is kept by its address, in whatever order the events come, and stays when the address goes', async () => {
    await publish(4, two, proof('two', 4))
    await publish(2, one, proof('one', 2))
    await publish(1, one, null)
    await publish(3, one)
    await publish(5, null, null)
    expect(await kept()).toEqual([
      [one, 'one'],
      [two, 'two'],
    ])
  })

  it('is the first one, also where a gateway that went back publishes its version once more', async () => {
    await publish(6, one, proof('a later one', 6))
    await publish(4, two, proof('two', 4))
    expect((await kept()).map(([, text]) => text)).toEqual(['one', 'two'])
    const three = Wallet.createRandom().address
    await publish(2, three, proof('version 2 again', 7))
    expect(await kept()).toContainEqual([three, 'version 2 again'])
  })
})
