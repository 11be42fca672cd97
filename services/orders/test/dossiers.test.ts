import { DOSSIER_PAYMENTS_MAX, type Dossier, type EntryBody, type OrderBody, signedDossier } from '@ponte/contracts'
import { type Database, openDatabase, uuidv7, uuidv7At } from '@ponte/service-kit'
import { testDatabase } from '@ponte/service-kit/testing'
import request from 'supertest'
import { ordersMigrations } from '../src'
import { type BlockToProve, NotProvenError } from '../src/chain/receipt-proof'
import { createDossiers, DossierRefusal, type Dossiers } from '../src/dossier/dossiers'
import { dossierSigner } from '../src/dossier/signing'
import { makeDossier, makeExport } from '../src/export/export-job'
import { openExport } from '../src/ledger/export'
import { EXPORT_ATTEMPTS_MAX, openStore, type Store } from '../src/store'
import { listener } from './listener'
import { asMerchant, PAYOUT, startOrders } from './setup'

const KEY = '07'.repeat(32)
const now = () => new Date()
const signer = dossierSigner(KEY)
/** Of the blocks alone: receipts are proven in src/dossier. */
const unproven = async ({ number, hash, transactions }: BlockToProve) =>
  transactions.map(tx_hash => ({ tx_hash, block_number: number, block_hash: hash, block_time: now().toISOString(), proof: null }))
const place = { network: 'anvil', chainId: 31_337, tokenAddress: `0x${'0c'.repeat(20)}` }

describe('of a merchant', () => {
  let system: Awaited<ReturnType<typeof startOrders>>
  let chain: ReturnType<typeof listener>
  let dossiers: Dossiers
  beforeAll(async () => {
    system = await startOrders({
      DOSSIER_KEY: KEY,
      DOSSIER_FORMER_KEYS: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      DEPOSIT_FACTORY: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    })
    chain = listener(system.bus)
    dossiers = createDossiers({
      store: openStore(system.sql, { now, latestChainTime: now, committed: () => undefined }),
      signer,
      publicUrl: 'https://pay.example.com',
      networks: new Map([[place.chainId, { ...place, prove: unproven }]]),
    })
  })
  afterAll(() => system.stop())

  const order = async (merchant: string, more: object = {}): Promise<OrderBody> =>
    (
      await request(system.url)
        .post('/api/v1/orders')
        .set(asMerchant(merchant))
        .send({ brl_amount: '542.00', ...more })
        .expect(201)
    ).body
  const entries = async (merchant: string): Promise<EntryBody[]> =>
    (await request(system.url).get('/api/v1/entries?limit=100').set(asMerchant(merchant))).body.data
  const post = (merchant: string, body: object) =>
    request(system.url)
      .post('/api/v1/exports')
      .set(asMerchant(merchant))
      .send({ format: 'dossier_json', ...body })
  const terms = (merchant: string) => ({ merchant_id: merchant, version: 1, display_name: 'Padaria Estrela', payout_address: PAYOUT })
  const made = async (merchant: string, body: object): Promise<Dossier> => {
    const through = (await entries(merchant)).length
    const dossier = await dossiers.ask({ format: 'dossier_json', ...body }, terms(merchant), through)
    const one = openExport({ id: uuidv7(), merchantId: merchant, through, requestedBy: null, dossier }, { format: 'dossier_json' }, now())
    const { bytes } = await dossiers.file(one, async () => undefined)
    return signedDossier.parse(JSON.parse(bytes.toString())).dossier
  }

  test('the newest entries make up an amount, with order, customer and payer', async () => {
    const merchant = uuidv7()
    const customer = { name: 'Ana Souza', tax_id: '12345678909' }
    const [first, second] = [await order(merchant, { external_ref: 'INV-1', customer }), await order(merchant, { external_ref: 'INV-2' })]
    await chain.report('confirmed', chain.payment(first))
    await chain.report('confirmed', chain.payment(second))
    expect(await made(merchant, { amount: '100' })).toMatchObject({
      ...{
        total_usdc: '100.000000',
        merchant: { id: merchant, name: 'Padaria Estrela' },
        payout_addresses: [{ address: PAYOUT, proof: null }],
      },
      basis: { amount: '100.000000', payout_address: PAYOUT, entries: null },
      origins: [
        {
          amount: '99.000000',
          counted: '99.000000',
          platform_fee: '1.000000',
          kind: 'router',
          order: { external_ref: 'INV-2', customer: null },
        },
        { amount: '99.000000', counted: '1.000000', order: { external_ref: 'INV-1', customer }, payments: [{ amount: '100.000000' }] },
      ],
    })
    const settled = (await entries(merchant)).filter(({ kind }) => kind === 'settled').map(({ sequence }) => sequence)
    expect(await made(merchant, { entries: settled.slice(0, 1) })).toMatchObject({
      total_usdc: '99.000000',
      origins: [{ order: { external_ref: 'INV-1' } }],
    })
  })

  test('each sweep has the transfers since the one before, and the largest of many', async () => {
    const merchant = uuidv7()
    const one = await order(merchant)
    const transfer = (gross: bigint, block: number, index = 0) => chain.transfer(one, { gross, block_number: block, log_index: index })
    const [a, b, c] = [transfer(40_000_000n, 10), transfer(20_000_000n, 11), transfer(40_000_000n, 20)]
    for (const each of [a, b, c]) await chain.report('confirmed', each)
    await chain.sweeps('confirmed', one, 60_000_000n, { block_number: 12 })
    await chain.sweeps('confirmed', one, 40_000_000n, { block_number: 21 })
    const { origins } = await made(merchant, { amount: '99' })
    expect(origins.map(({ kind, payments }) => [kind, payments.map(({ amount }) => amount)])).toEqual([
      ['sweep', ['40.000000']],
      ['sweep', ['40.000000', '20.000000']],
    ])
    expect(origins[0]).toMatchObject({ deposit_address: one.payment.deposit_address, memo: one.memo })
    for (let index = 0; index < DOSSIER_PAYMENTS_MAX + 2; index++) await chain.report('confirmed', transfer(1n + BigInt(index), 30, index))
    await chain.sweeps('confirmed', one, 2_000n, { block_number: 31 })
    const [flooded] = (await made(merchant, { amount: '0.001' })).origins
    expect([flooded?.payments.length, flooded?.more_payments, flooded?.payments[0]?.amount]).toEqual([DOSSIER_PAYMENTS_MAX, 2, '0.000003'])
  })

  test('what was taken back is no origin', async () => {
    const merchant = uuidv7()
    const [kept, gone] = [await order(merchant), await order(merchant)]
    await chain.report('confirmed', chain.payment(kept))
    const paid = chain.payment(gone)
    await chain.report('confirmed', paid)
    const settled = (await entries(merchant)).filter(({ kind }) => kind === 'settled')
    await chain.report('orphaned', paid)
    await expect(made(merchant, { amount: '100' })).rejects.toMatchObject({
      message: expect.stringContaining(`99.000000 USDC have reached ${PAYOUT}`),
    })
    await expect(made(merchant, { entries: [settled[1]?.sequence] })).rejects.toMatchObject({ code: 'invalid_request' })
    expect((await made(merchant, { amount: '99' })).origins).toMatchObject([{ order: { id: kept.id } }])
  })

  test('a stranger, another address, and entries that reached no payout address are refused', async () => {
    const [merchant, stranger] = [uuidv7(), uuidv7()]
    await chain.report('confirmed', chain.payment(await order(merchant)))
    const [payment] = await entries(merchant)
    const refusals = [
      await post(stranger, { entries: [3] }),
      await post(stranger, { amount: '1' }),
      await post(merchant, { entries: [payment?.sequence] }),
      await post(merchant, { amount: '1', payout_address: `0x${'11'.repeat(20)}` }),
      await post(merchant, {}),
      await post(merchant, { amount: '1', entries: [3] }),
      await post(merchant, { amount: '0' }),
      await post(merchant, { entries: [3, 3] }),
      await post(merchant, { amount: '1', kind: 'fee' }),
      await post(merchant, { format: 'csv', amount: '1' }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual(refusals.map(() => 400))
    expect(refusals[1]?.body.detail).toContain('0.000000 USDC have reached')
    expect((await post(merchant, { amount: '1' }).expect(201)).body).toMatchObject({
      format: 'dossier_json',
      amount: '1.000000',
      payout_address: PAYOUT,
      entries: null,
    })
  })

  test('keys are listed, those of before too', async () => {
    const { body } = await request(system.url).get('/api/v1/dossier-keys').set(asMerchant(uuidv7()))
    expect(body.keys.map(({ kid }: { kid: string }) => kid)).toEqual([signer.kid, 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'])
  })
})

test('an installation without a key says so', async () => {
  const system = await startOrders()
  try {
    const { status, body } = await request(system.url)
      .post('/api/v1/exports')
      .set(asMerchant(uuidv7()))
      .send({ format: 'dossier_json', amount: '1' })
    expect([status, body.code, body.detail]).toEqual([409, 'invalid_state', expect.stringContaining('DOSSIER_KEY')])
    expect((await request(system.url).get('/api/v1/dossier-keys').set(asMerchant(uuidv7()))).body).toEqual({ keys: [] })
  } finally {
    await system.stop()
  }
})

describe('made by replicas', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>
  let pool: Database
  let store: Store
  const running = new AbortController().signal
  beforeAll(async () => {
    database = await testDatabase(ordersMigrations)
    pool = openDatabase({ url: database.url, poolSize: 3 })
    store = openStore(pool, { now, latestChainTime: now, committed: () => undefined })
  })
  afterAll(async () => {
    await pool.stop?.()
    await database.drop()
  })
  beforeEach(() => pool.query('DELETE FROM exports'))

  const ask = async () => {
    const dossier = { amount: '1', payoutAddress: PAYOUT, entries: null, chainId: null, merchantName: 'Padaria' }
    const one = openExport(
      { id: uuidv7At(now()), merchantId: uuidv7(), through: 1, requestedBy: null, dossier },
      { format: 'dossier_json' },
      now(),
    )
    expect(await store.exports.insert(one, [])).toBe(true)
    return { one, state: () => store.exports.find(one.merchantId, one.id, now()) }
  }
  const expire = () => pool.query("UPDATE exports SET leased_until = now() - interval '1 second'")
  const making = (file: Dossiers['file']) => makeDossier(store, now, running, { file })

  test('what no node proves is tried again, and fails with its reason in the end', async () => {
    const { state } = await ask()
    const lying: Dossiers['file'] = async () => {
      throw new NotProvenError('the node has another block')
    }
    for (let attempt = 1; attempt < EXPORT_ATTEMPTS_MAX; attempt++) {
      await expect(making(lying)).rejects.toThrow('another block')
      expect((await state())?.status).toBe('running')
      await expire()
    }
    await making(lying)
    expect(await state()).toMatchObject({ status: 'failed', failure: 'not_proven' })
  })

  test('what is too large fails at once', async () => {
    const { state } = await ask()
    await making(async () => {
      throw new DossierRefusal('too_large')
    })
    expect(await state()).toMatchObject({ status: 'failed', failure: 'too_large' })
  })

  test('one that waits for its nodes holds up no file of entries', async () => {
    await ask()
    const other = { id: uuidv7At(now()), merchantId: uuidv7(), through: 0, requestedBy: null }
    await store.exports.insert(openExport(other, { format: 'csv' }, now()), [])
    let answer: () => void = () => undefined
    const waiting = making(async () => {
      await new Promise<void>(resolve => (answer = resolve))
      throw new DossierRefusal('not_proven')
    })
    expect(await makeExport(store, now, running)).toBe(true)
    expect(await store.exports.find(other.merchantId, other.id, now())).toMatchObject({ status: 'ready' })
    answer()
    await waiting
  })

  test('one whose replica stops is handed on at its next block, as no failed attempt', async () => {
    const { state } = await ask()
    const stopping = new AbortController()
    await makeDossier(store, now, stopping.signal, {
      async file(_one, progress) {
        await progress(1)
        stopping.abort()
        await progress(2)
        throw new Error('it went on')
      },
    })
    expect(await state()).toMatchObject({ status: 'waiting', attempts: 0 })
  })

  test('a replica that died while it asked nodes is followed by another one, and writes nothing itself', async () => {
    const { one, state } = await ask()
    let stall: () => void = () => undefined
    const stalled = making(async (_one, progress) => {
      await new Promise<void>(resolve => (stall = resolve))
      await progress(1)
      return { bytes: Buffer.from('late'), origins: 1 }
    })
    while ((await state())?.status !== 'running') await new Promise(resolve => setTimeout(resolve, 10))
    await expire()
    await making(async (_one, progress) => {
      await progress(1)
      return { bytes: Buffer.alloc(3_000_000, 'x'), origins: 7 }
    })
    stall()
    await expect(stalled).rejects.toThrow(/another replica/)
    expect(await state()).toMatchObject({ status: 'ready', rows: 7, size: 3_000_000, id: one.id })
  })
})
