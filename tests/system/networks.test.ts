import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  type AttentionItemBody,
  type EntryBody,
  type ExplanationBody,
  type ExportBody,
  formatUsdc,
  type MerchantBody,
  type NetworkListBody,
  type OrderBody,
  type RecoveryBody,
  type RecoveryListBody,
  type RefundBody,
  signedDossier,
} from '@ponte/contracts'
import { type LocalChain, mined } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { parseEther, Wallet } from 'ethers'
import { signFor } from '../siege/signature'
import { askGateway, call, MERCHANT, merchant, PAYER, pay, runSystem, system, units, world } from '../world'

// Two networks: each a chain with a listener and a database of its own. Orders add up what comes on both. The second one mines for a transaction, or on request.

const program = join(__dirname, '../../packages/cli/dist/main.js')
const OTHER = 31_338
let other: LocalChain
runSystem({ world: { otherChains: [{ chainId: OTHER }] } })
beforeAll(() => {
  const [second] = world.otherChains
  if (!second) throw new Error('There is no second network.')
  other = second
})

/** As an operator runs it. It asks this process, which answers meanwhile. */
async function statusOf(ports: Record<string, string>): Promise<string> {
  const command = join(__dirname, '../../scripts/operate/status.mjs')
  const child = spawn(process.execPath, [command], { env: { PATH: process.env.PATH, ...ports }, stdio: ['ignore', 'pipe', 'inherit'] })
  return text(child.stdout)
}

const order = (more: object = {}) =>
  call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00', ...more })
const read = ({ id }: OrderBody) => call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
const notified = (type: string, { id }: OrderBody) =>
  world.receiver.received.filter(({ body }) => body.includes(`"${type}"`) && body.includes(id))
async function transfer(chain: LocalChain, to: string | null | undefined, amount: bigint) {
  const payer = chain.wallet(PAYER.privateKey)
  await mined(chain.mintUsdc(payer.address, amount))
  return mined(chain.transferUsdc(payer, to ?? '', amount))
}

/** The second network goes on until this holds. */
const itemOf = async (hash: string) => {
  const { data } = await call<{ data: AttentionItemBody[] }>(system.gatewayUrl, 'GET', '/api/v1/attention', merchant.api_key)
  return data.find(({ payment }) => payment?.tx_hash === hash)
}
const mineThere = (done: () => Promise<boolean>, message: string) =>
  until(
    async () => {
      await other.mine(1)
      return done()
    },
    message,
    30_000,
  )

it('half by the router on one and half by a plain transfer on the other pay an order once, and each half reaches the merchant on its own', async () => {
  const created = await order()
  const [first, second] = created.payment.networks ?? []
  expect([first?.chain_id, second?.chain_id]).toEqual([world.chain.chainId, OTHER])
  expect(second?.deposit_address).toBe(created.payment.deposit_address)
  const [all, half] = [units(created.usdc_amount), units(created.usdc_amount) / 2n]
  const before = await other.balanceOf(MERCHANT.address)
  await pay(world.chain, created, half)
  await system.idle()
  expect(await read(created)).toMatchObject({ status: 'underpaid' })
  await transfer(other, second?.deposit_address, all - half)
  await mineThere(
    async () => (await read(created)).payments?.every(one => one.settlement.status === 'settled') === true,
    'it was not swept',
  )
  await system.idle()
  const { payments = [], ...paid } = await read(created)
  expect(paid).toMatchObject({ status: 'paid', exception: null })
  expect(payments.map(({ network, chain_id, amount }) => [network, chain_id, amount])).toEqual([
    ['anvil', world.chain.chainId, payments[0]?.amount],
    ['anvil-31338', OTHER, payments[1]?.amount],
  ])
  expect(notified('order.paid', created)).toHaveLength(1)
  const fee = ((all - half) * 100n) / 10_000n
  expect((await other.balanceOf(MERCHANT.address)) - before).toBe(all - half - fee)
  const booked = async () => {
    const { data } = await call<{ data: EntryBody[] }>(system.gatewayUrl, 'GET', `/api/v1/entries?order_id=${created.id}`, merchant.api_key)
    return data.map(({ kind, chain_id, amount }) => [chain_id, kind, amount]).sort()
  }
  await until(async () => (await booked()).length === 6, 'the halves are not in the ledger', 30_000)
  const partsOf = (gross: bigint) => {
    const taken = (gross * 100n) / 10_000n
    return [['fee', taken] as const, ['payment', gross] as const, ['settled', gross - taken] as const]
  }
  expect(await booked()).toEqual(
    [
      ...partsOf(half).map(([kind, amount]) => [world.chain.chainId, kind, formatUsdc(amount)]),
      ...partsOf(all - half).map(([kind, amount]) => [OTHER, kind, formatUsdc(amount)]),
    ].sort(),
  )
}, 180_000)

/** A payer without coin, who signs for this much on a network. */
async function signedOn(chain: LocalChain, of: OrderBody, amount: bigint, payer = Wallet.createRandom()) {
  await mined(chain.mintUsdc(payer.address, amount))
  const network = of.payment.networks?.find(({ chain_id }) => chain_id === chain.chainId)
  const there = {
    ...of,
    payment: { ...of.payment, ...network, merchant_address: network?.merchant_address ?? of.payment.merchant_address },
  }
  return { ...(await signFor({ ...world, chain }, there, payer, amount)), chain_id: chain.chainId }
}
async function authorize({ id }: OrderBody, body: object) {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const response = await askGateway(system.gatewayUrl, `/api/v1/checkout/${id}/authorization`, init)
  return { status: response.status, body: await response.json() }
}

/** The second listener is asked for new orders once a second, all of them together. */
const knownThere = (of: OrderBody, body: object) =>
  until(async () => (await authorize(of, { ...body, amount: '1.000000' })).status !== 503, 'the second listener does not know the order')

it('a payer without coin signs on the second network, which its relayer submits there', async () => {
  const created = await order()
  expect(created.payment.networks?.map(({ gasless }) => gasless)).toEqual([true, true])
  const body = await signedOn(other, created, units(created.usdc_amount))
  await knownThere(created, body)
  expect(await authorize(created, { ...body, chain_id: 1 })).toMatchObject({
    ...{
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'chain_id', message: `must be a network of the order: 31337 or ${OTHER}` }] },
    },
  })
  // Its domain is the other network's.
  expect(await authorize(created, { ...body, chain_id: world.chain.chainId })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  })
  expect(await authorize(created, body)).toMatchObject({ status: 202, body: { payer_address: body.payer_address } })
  await mineThere(async () => (await read(created)).status === 'paid', 'it was not paid')
  expect((await read(created)).payments).toMatchObject([{ kind: 'router', chain_id: OTHER, payer_address: body.payer_address }])
  expect(await authorize(created, body)).toMatchObject({ status: 202, body: { status: 'paid' } })
  await system.idle()
  expect(notified('order.paid', created)).toHaveLength(1)
}, 180_000)

it('signatures on both networks at once are paid once each: the order is paid once, and the second stands as its duplicate', async () => {
  const created = await order()
  const all = units(created.usdc_amount)
  const bodies = [await signedOn(world.chain, created, all), await signedOn(other, created, all)]
  await system.idle()
  await knownThere(created, bodies[1] ?? {})
  expect((await Promise.all(bodies.map(body => authorize(created, body)))).map(({ status }) => status)).toEqual([202, 202])
  await mineThere(async () => (await read(created)).exception === 'duplicate', 'no duplicate')
  await system.idle()
  expect(await read(created)).toMatchObject({ status: 'paid', payments: [{}, {}] })
  expect(notified('order.paid', created)).toHaveLength(1)
  const { data } = await call<{ data: AttentionItemBody[] }>(system.gatewayUrl, 'GET', '/api/v1/attention', merchant.api_key)
  expect(data.find(item => item.order?.id === created.id)).toMatchObject({ reasons: ['duplicate'], left_over: created.usdc_amount })
  // A signature that comes later asks for nothing, be it before the order is paid or after: a sweep of another order mines there too.
  const next = await order()
  const late = await signedOn(other, next, units(next.usdc_amount))
  await knownThere(next, late)
  expect(await authorize(next, late)).toMatchObject({ status: 202 })
  const view = async () => call<{ due: string }>(system.gatewayUrl, 'GET', `/api/v1/checkout/${next.id}`, 'none')
  await until(async () => (await view()).due === '0.000000', 'it is still due')
  const refusal = await authorize(next, await signedOn(world.chain, next, units(next.usdc_amount)))
  if (refusal.status === 409) expect(refusal.body).toMatchObject({ code: 'invalid_state' })
  else expect(refusal).toMatchObject({ status: 400, body: { errors: [{ path: 'amount' }] } })
  await mineThere(async () => (await read(next)).status === 'paid', 'it was not paid')
  await system.idle()
  expect((await read(next)).payments).toMatchObject([{ chain_id: OTHER }])
}, 180_000)

it('a transaction is explained by the network that has it', async () => {
  const created = await order()
  await system.idle()
  const ask = (path: string, key: string, hash: string) =>
    call<ExplanationBody>(system.gatewayUrl, 'POST', `/api/v1${path}/explain`, key, { tx_hash: hash })
  const explained = (hash: string) => ask(`/orders/${created.id}`, merchant.api_key, hash)
  const [here, there] = [
    { network: 'anvil', chain_id: world.chain.chainId },
    { network: 'anvil-31338', chain_id: OTHER },
  ]
  const unknown = await explained(`0x${'5b'.repeat(32)}`)
  expect(unknown).toMatchObject({ code: 'not_found', detail: expect.stringContaining('on anvil or anvil-31338') })
  expect(unknown).not.toHaveProperty('network')
  const stray = (await transfer(other, Wallet.createRandom().address, 5n)).hash
  expect(await explained(stray)).toMatchObject({ code: 'wrong_recipient', ...there })
  const half = units(created.usdc_amount) / 2n
  const { hash } = await transfer(other, created.payment.deposit_address, half)
  await mineThere(async () => (await explained(hash)).code === 'short', 'it was not counted')
  expect(await explained(hash)).toMatchObject({ ...there, amount: formatUsdc(half) })
  const rest = await pay(world.chain, created, half)
  await until(async () => (await explained(rest.hash)).code === 'settled', 'it was not counted', 30_000)
  expect(await explained(rest.hash)).toMatchObject(here)
  expect(await explained(hash)).toMatchObject({ code: 'settled', ...there })
  expect(await ask(`/checkout/${created.id}`, 'none', hash)).toEqual(await explained(hash))
}, 180_000)

it('a dossier is of one network, and its node bears it out', async () => {
  const created = await order()
  const half = units(created.usdc_amount) / 2n
  await pay(world.chain, created, half)
  const { hash } = await transfer(other, created.payment.deposit_address, half)
  const entries = async () =>
    (await call<{ data: EntryBody[] }>(system.gatewayUrl, 'GET', `/api/v1/entries?order_id=${created.id}`, merchant.api_key)).data
  const settled = async () => (await entries()).filter(({ kind }) => kind === 'settled')
  await mineThere(async () => (await settled()).length === 2, 'the halves are not settled')
  const ask = (body: object) =>
    call<ExportBody>(system.gatewayUrl, 'POST', '/api/v1/exports', merchant.api_key, { format: 'dossier_json', ...body })
  const dossierOf = async (body: object) => {
    const { id } = await ask(body)
    const state = () => call<ExportBody>(system.gatewayUrl, 'GET', `/api/v1/exports/${id}`, merchant.api_key)
    await until(async () => ['ready', 'failed'].includes((await state()).status), 'the dossier is not made', 30_000)
    const answer = await fetch(`${system.gatewayUrl}/api/v1/exports/${id}/file`, {
      headers: { authorization: `Bearer ${merchant.api_key}` },
    })
    return signedDossier.parse(await answer.json())
  }
  const there = await dossierOf({ amount: '1', chain_id: OTHER })
  expect(there.dossier).toMatchObject({
    ...{ network: 'anvil-31338', chain_id: OTHER, token_address: other.usdcAddress },
    origins: [
      {
        kind: 'sweep',
        counted: '1.000000',
        order: { id: created.id },
        payments: [{ tx_hash: hash, amount: formatUsdc(half) }],
        more_payments: 0,
      },
    ],
  })
  expect(there.dossier.transactions.map(({ proof }) => proof !== null)).toEqual([true, true])
  const here = await dossierOf({ amount: '1' })
  expect(here.dossier).toMatchObject({
    network: 'anvil',
    chain_id: world.chain.chainId,
    origins: [{ kind: 'router', order: { id: created.id } }],
  })
  const both = (await settled()).map(({ sequence }) => sequence)
  await expect(ask({ entries: both })).rejects.toThrow('make one of each')
  await expect(ask({ amount: '1', chain_id: 1 })).rejects.toThrow(`the networks here are 31337 and ${OTHER}`)
  const named = (await settled()).find(({ chain_id }) => chain_id === OTHER)
  expect((await dossierOf({ entries: [named?.sequence] })).dossier).toMatchObject({ chain_id: OTHER })

  const folder = mkdtempSync(join(tmpdir(), 'ponte-dossier-'))
  writeFileSync(join(folder, 'there.json'), JSON.stringify(there))
  const verify = (rpc: string) =>
    new Promise<{ code: number; output: string }>(resolve => {
      const args = [program, 'verify-dossier', join(folder, 'there.json'), '--installation', system.gatewayUrl, '--rpc', rpc]
      const env = { PATH: process.env.PATH, PONTE_CONFIG_DIR: folder }
      execFile(process.execPath, args, { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      )
    })
  expect(await verify(other.rpcUrl)).toMatchObject({ code: 0, output: expect.stringContaining('The dossier is genuine.') })
  expect(await verify(world.chain.rpcUrl)).toMatchObject({ code: 1, output: expect.stringContaining(`the dossier of chain ${OTHER}`) })
  rmSync(folder, { recursive: true })
}, 180_000)

it('no order expires while one network stands still, and what came in time there counts once it is seen', async () => {
  const [waiting, created] = [await order({ expires_in: 10 }), await order({ expires_in: 10 })]
  const end = Date.parse(created.expires_at) / 1_000
  await until(async () => (await world.chain.now()) > end + 2, 'the first network does not go on', 60_000)
  await system.idle()
  expect([(await read(waiting)).status, (await read(created)).status]).toEqual(['pending', 'pending'])
  await other.setNextBlockTimestamp(Math.floor(end) - 2)
  const payer = other.wallet(PAYER.privateKey)
  await mined(other.mintUsdc(payer.address, units(created.usdc_amount)))
  await other.setNextBlockTimestamp(Math.floor(end) - 1)
  await mined(other.transferUsdc(payer, created.payment.deposit_address ?? '', units(created.usdc_amount)))
  await other.setNextBlockTimestamp(Math.floor(end) + 3)
  await mineThere(async () => (await read(created)).status === 'paid', 'it was not paid')
  await mineThere(async () => (await read(waiting)).status === 'expired', 'it did not expire')
  await system.idle()
  expect([notified('order.expired', created), notified('order.expired', waiting)]).toEqual([[], [expect.anything()]])
}, 180_000)

it('a reorganisation of one takes back what came there, and leaves what came on the other', async () => {
  const created = await order()
  const half = units(created.usdc_amount) / 2n
  await pay(world.chain, created, half)
  const { blockNumber } = await transfer(other, created.payment.deposit_address, half)
  await until(async () => (await read(created)).payments?.length === 2, 'both halves did not arrive', 30_000)
  // A sweep would be mined on top of it meanwhile.
  const resume = await other.halt()
  await other.reorg((await other.provider.getBlockNumber()) - blockNumber + 1)
  await resume()
  const left = async () => ((await read(created)).payments ?? []).filter(({ status }) => status !== 'orphaned')
  await mineThere(async () => (await left()).length === 1, 'the reorganisation was not seen')
  expect(await left()).toMatchObject([{ chain_id: world.chain.chainId }])
  await transfer(other, created.payment.deposit_address, half)
  await mineThere(async () => (await read(created)).status === 'paid', 'it was not paid')
  await system.idle()
  expect(notified('order.paid', created)).toHaveLength(1)
}, 180_000)

it('money goes back on the network that most came on, or on the one that is named, and on no other', async () => {
  const created = await order()
  const all = units(created.usdc_amount)
  await transfer(other, created.payment.deposit_address, all)
  await mineThere(async () => (await read(created)).status === 'paid', 'it was not paid')
  const refund = (body: object) =>
    call<RefundBody>(system.gatewayUrl, 'POST', `/api/v1/orders/${created.id}/refunds`, merchant.api_key, {
      reason: 'It came back',
      ...body,
    })
  const payee = Wallet.createRandom().address
  await expect(refund({ payee_address: payee, amount: '1', chain_id: 1 })).rejects.toThrow(
    `must be a network of the order: 31337 or ${OTHER}`,
  )
  const [made, named] = [
    await refund({ payee_address: payee, amount: '2' }),
    await refund({ payee_address: payee, amount: '1', chain_id: world.chain.chainId }),
  ]
  expect([made, named].map(({ typed_data }) => typed_data?.domain.chainId)).toEqual([OTHER, world.chain.chainId])
  await mined(world.chain.mintUsdc(MERCHANT.address, 1_000_000n))
  for (const { id, typed_data } of [made, named]) {
    const { domain, types, message } = typed_data ?? { domain: {}, types: {}, message: { validBefore: '0' } }
    const signature = await new Wallet(MERCHANT.privateKey).signTypedData(domain, types, message)
    const signed = { valid_before: Number(message.validBefore), signature }
    await call(system.gatewayUrl, 'POST', `/api/v1/refunds/${id}/signature`, merchant.api_key, signed)
  }
  const stateOf = async ({ id }: RefundBody) =>
    (await call<RefundBody>(system.gatewayUrl, 'GET', `/api/v1/refunds/${id}`, merchant.api_key)).status
  await mineThere(async () => (await stateOf(made)) === 'confirmed' && (await stateOf(named)) === 'confirmed', 'it did not go back')
  expect([await other.balanceOf(payee), await world.chain.balanceOf(payee)]).toEqual([2_000_000n, 1_000_000n])
}, 180_000)

it('a plain transfer to the payout address is in the ledger on whichever network it came', async () => {
  const came = [
    { chain: world.chain, amount: 1_230_000n },
    { chain: other, amount: 3_210_000n },
  ]
  for (const { chain, amount } of came) await transfer(chain, MERCHANT.address, amount)
  const booked = async () => {
    const { data } = await call<{ data: EntryBody[] }>(system.gatewayUrl, 'GET', '/api/v1/entries?kind=direct', merchant.api_key)
    return came.map(({ chain, amount }) => data.filter(one => one.amount === formatUsdc(amount) && one.chain_id === chain.chainId).length)
  }
  await mineThere(async () => (await booked()).join() === '1,1', 'they are not in the ledger')
}, 180_000)

it('what is no USDC is found and recovered on the network that it came on', async () => {
  const created = await order()
  await system.idle()
  const payer = other.wallet(PAYER.privateKey)
  const sent = await mined(payer.sendTransaction({ to: created.payment.deposit_address, value: parseEther('7') }))
  await other.mine(2)
  const explained = () =>
    call<ExplanationBody>(system.gatewayUrl, 'POST', `/api/v1/orders/${created.id}/explain`, merchant.api_key, { tx_hash: sent.hash })
  await mineThere(async () => (await explained()).code === 'wrong_token', 'it is not explained')
  const coin = { token_address: null, destination: MERCHANT.address }
  const recover = (body: object) =>
    call<RecoveryBody>(system.gatewayUrl, 'POST', `/api/v1/orders/${created.id}/recoveries`, merchant.api_key, { ...coin, ...body })
  await expect(recover({ chain_id: world.chain.chainId })).rejects.toThrow('was not found')
  const before = await other.provider.getBalance(MERCHANT.address)
  expect(await recover({})).toMatchObject({ status: 'pending', chain_id: OTHER })
  const read = () =>
    call<RecoveryListBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${created.id}/recoveries`, merchant.api_key).then(({ data }) => data)
  await mineThere(async () => (await read()).every(({ status }) => status === 'confirmed'), 'it was not recovered')
  expect(await read()).toMatchObject([{ ...coin, chain_id: OTHER, amount: String(parseEther('7')) }])
  expect((await other.provider.getBalance(MERCHANT.address)) - before).toBe(parseEther('7'))
}, 180_000)

it('money on a network that the order does not offer needs attention, is swept, and counts once its merchant counts it', async () => {
  const created = await order({ chain_ids: [world.chain.chainId] })
  expect(created.payment.networks).toBeUndefined()
  const paid = await transfer(other, created.payment.deposit_address, units(created.usdc_amount))
  const found = () => itemOf(paid.hash)
  await mineThere(async () => (await found()) !== undefined, 'it is not named')
  const item = await found()
  expect(item).toMatchObject({ actions: ['attach'], payment: { reason: 'wrong_chain', kind: 'transfer', chain_id: OTHER } })
  expect((await read(created)).status).toBe('pending')
  const explained = { tx_hash: paid.hash }
  expect(
    await call<ExplanationBody>(system.gatewayUrl, 'POST', `/api/v1/orders/${created.id}/explain`, merchant.api_key, explained),
  ).toMatchObject({ code: 'wrong_network', amount: created.usdc_amount, chain_id: OTHER })
  const word = { order_id: created.id, reason: 'The exchange sends on that one alone' }
  const counted = await call<OrderBody>(system.gatewayUrl, 'POST', `/api/v1/attention/${item?.id}/attach`, merchant.api_key, word)
  expect(counted).toMatchObject({ status: 'paid', payment: { networks: [{}, { chain_id: OTHER }] } })
  const settled = async () => (await read(created)).payments?.every(one => one.settlement.status === 'settled') === true
  await mineThere(settled, 'it was not swept')
  await system.idle()
  expect(await found()).toBeUndefined()
  expect(notified('order.paid', created)).toHaveLength(1)
}, 180_000)

it('a merchant narrows new orders to the first network, and what comes on the other one needs attention', async () => {
  const choose = (chain_ids: number[] | null) =>
    call<MerchantBody>(system.gatewayUrl, 'PATCH', '/api/v1/merchants/me', merchant.token, { chain_ids })
  const { data: networks } = await call<NetworkListBody>(system.gatewayUrl, 'GET', '/api/v1/networks', merchant.api_key)
  expect(networks.map(({ network, chain_id }) => [network, chain_id])).toEqual([
    ['anvil', world.chain.chainId],
    ['anvil-31338', OTHER],
  ])
  const open = await order()
  await expect(choose([world.chain.chainId, 1])).rejects.toThrow('chain_ids must be of the networks here')
  expect(await choose([world.chain.chainId])).toMatchObject({ chain_ids: [world.chain.chainId] })
  const created = await order()
  expect([created.payment.networks, (await read(open)).payment.networks?.length]).toEqual([undefined, 2])
  await expect(order({ chain_ids: [world.chain.chainId, OTHER] })).rejects.toThrow('chain_ids must be of the networks here')
  const paid = await transfer(other, created.payment.deposit_address, units(created.usdc_amount))
  const found = () => itemOf(paid.hash)
  await mineThere(async () => (await found()) !== undefined, 'it is not named')
  expect([await found(), await read(created)]).toMatchObject([
    { actions: ['attach'], payment: { reason: 'wrong_chain', chain_id: OTHER } },
    { status: 'pending' },
  ])
  expect(await choose(null)).toMatchObject({ chain_ids: null })
  expect((await order()).payment.networks?.length).toBe(2)
}, 180_000)

it('a merchant’s own nodes bear the ledger out, each for its network', async () => {
  const audit = (chain: LocalChain) =>
    new Promise<{ code: number; output: string }>(resolve => {
      const terms = { rpc: chain.rpcUrl, payout: MERCHANT.address, router: chain.routerAddress, token: chain.usdcAddress, confirmations: 1 }
      const args = Object.entries({ ...terms, 'chain-id': chain.chainId }).flatMap(([name, value]) => [`--${name}`, String(value)])
      const env = { PATH: process.env.PATH, PONTE_CONFIG_DIR: tmpdir(), PONTE_API_KEY: merchant.api_key, PONTE_URL: system.gatewayUrl }
      execFile(process.execPath, [program, 'audit', ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      )
    })
  for (const chain of [world.chain, other])
    expect(await audit(chain)).toMatchObject({ code: 0, output: expect.stringContaining('The node and the ledger agree') })
})

it('npm run status has a line of each network, and what gas was spent on it', async () => {
  const urls = Object.entries({ ...system.opsUrls, ...system.otherOpsUrls })
  const ports = Object.fromEntries(urls.map(([service, url]) => [`${service.toUpperCase().replaceAll('-', '_')}_OPS_URL`, url]))
  const well = await statusOf(ports)
  for (const chainId of [world.chain.chainId, OTHER]) {
    expect(well).toMatch(new RegExp(`^  ok +chain, ${chainId} +block \\d+, \\d+ s old, \\d+ behind$`, 'm'))
    expect(well).toMatch(
      new RegExp(`^  ok +relayer ${chainId}, sweeps +gas for \\d+ more, \\d+\\.\\d\\d USDC spent since it was started$`, 'm'),
    )
  }
  const away = await statusOf({ ...ports, CHAIN_LISTENER_2_OPS_URL: 'http://127.0.0.1:9' })
  expect(away).toMatch(/^ {2}WRONG +chain of chain-listener-2 +not known$/m)
  expect(away).toMatch(/^ {2}ok +chain, 31337 /m)
})
