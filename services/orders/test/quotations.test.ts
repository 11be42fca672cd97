import type { OrderBody } from '@ponte/contracts'
import { uuidv7 } from '@ponte/service-kit'
import request from 'supertest'
import type { listener } from './listener'
import { chain, runOrders, system } from './run-orders'
import { asMerchant, PAYOUT, ROUTER } from './setup'

// An order, and no other, is found by each spelling in which a customer or a document quotes it.

const merchant = uuidv7()
const TX = `0x${'a7c3'.repeat(16)}`
const PAYER = '0x71C7656EC7ab88b098defB751B7401B5f6d8976F'
const PAYEE = '0x2546BcD3c84621e976D8185a91A922aE77ECEc30'
const BACK = `0x${'b4'.repeat(32)}`
const REFUND = uuidv7()
const STRAY = { memo: '5e'.repeat(32), tx: `0x${'c5'.repeat(32)}`, payer: '0xcd3B766CCDd6AE721141F452C550Ca635964ce71' }
let order: OrderBody

const create = async (body: object): Promise<OrderBody> =>
  (await request(system.url).post('/api/v1/orders').set(asMerchant(merchant)).send(body)).body

const payment = (chain: ReturnType<typeof listener>, target: OrderBody, over: object = {}) =>
  chain.report('confirmed', { ...chain.payment(target, { gross: BigInt(target.usdc_amount.replace('.', '')) }), ...over })

runOrders({ DEPOSIT_FACTORY: ROUTER })
beforeAll(async () => {
  const decoys = [
    { brl_amount: '1234.57', external_ref: 'PED-1043', description: 'Cesta de queijos', metadata: { customer: 'Maria da Conceição' } },
    { brl_amount: '12.34', external_ref: '104', description: 'Pão francês' },
    { brl_amount: '123456.00', external_ref: 'X-7' },
    { brl_amount: '1.23' },
  ]
  for (const decoy of decoys) await create(decoy)
  order = await create({
    brl_amount: '1234.56',
    external_ref: 'PED-1042',
    description: 'Cesta de pães (caixa grande), entrega à tarde',
    metadata: { customer: 'José da Conceição', email: 'jose.c@exemplo.com.br', cpf: '529.982.247-25' },
  })
  await system.sql.query(
    `INSERT INTO refunds (id, order_id, merchant_id, chain_id, units, payee, from_address, nonce, watch_from, reason, created_at, ended, tx_hash, log_index, block_number, block_time)
     VALUES ($1, $2, $3, 31337, 3141592, $4, $5, $6, 1, 'It came back', now(), 'transferred', $7, 1, 30, now())`,
    [REFUND, order.id, merchant, PAYEE, PAYOUT, `0x${'9e'.repeat(32)}`, BACK],
  )
  await chain.report('confirmed', {
    ...chain.payment(order, { gross: 2_718_281n }),
    memo: STRAY.memo,
    tx_hash: STRAY.tx,
    payer_address: STRAY.payer.toLowerCase(),
  })
  await payment(chain, order, { tx_hash: TX, payer_address: PAYER.toLowerCase() })
})

const found = async (text: string) => {
  const { status, body } = await request(system.url).get('/api/v1/orders').query({ text }).set(asMerchant(merchant))
  expect(status).toBe(200)
  return body.data.map(({ id }: OrderBody) => id)
}

const quotations: [what: string, text: () => string][] = [
  ['its number', () => 'PED-1042'],
  ['its number with #', () => '#PED-1042'],
  ['its number in small letters', () => ' ped-1042 '],
  ['its number in a sentence', () => 'Pedido nº PED-1042'],
  ['the same in English', () => 'order #PED-1042'],
  ['the digits of its number', () => '1042'],
  ['its id', () => order.id],
  ['its id in capitals', () => order.id.toUpperCase()],
  ['its id without dashes', () => order.id.replaceAll('-', '')],
  ['two blocks of its id', () => order.id.slice(0, 13)],
  ['its id as pages shorten it', () => `${order.id.slice(0, 13)}…${order.id.slice(-4)}`],
  ['its deposit address', () => order.payment.deposit_address ?? ''],
  ['its deposit address in small letters', () => (order.payment.deposit_address ?? '').toLowerCase()],
  ["its payer's address", () => PAYER],
  ["its payer's address as an explorer has it", () => `https://basescan.org/address/${PAYER.toLowerCase()}`],
  ['its transaction', () => TX],
  ['its transaction without 0x', () => TX.slice(2)],
  ['its transaction in capitals', () => TX.toUpperCase().replace('0X', '0x')],
  ["an explorer's link", () => `https://polygonscan.com/tx/${TX}#eventlog`],
  ['a link in a sentence', () => `Paguei aqui: https://basescan.org/tx/${TX} obrigado`],
  ['its memo', () => order.memo],
  ['its checkout', () => order.payment.checkout_url],
  ['its checkout with a slash and a language', () => `${order.payment.checkout_url}/?lang=pt`],
  ['its price', () => 'R$ 1.234,56'],
  ['its price without a blank', () => 'R$1234,56'],
  ['its price as English writes it', () => '1,234.56'],
  ['its price in words of reais', () => '1.234,56 reais'],
  ['its amount in USDC', () => `${order.usdc_amount} USDC`],
  ['its amount with a comma', () => `${order.usdc_amount.replace('.', ',')} usdc`],
  ["its customer's name without accents", () => 'jose da conceicao'],
  ['the same from behind', () => 'Conceição, José'],
  ["its customer's mail", () => 'JOSE.C@exemplo.com.br'],
  ["its customer's CPF", () => '529.982.247-25'],
  ["its customer's CPF as digits", () => '52998224725'],
  ['its description without accents', () => 'cesta de paes'],
  ['what went back of it', () => REFUND],
  ['the transaction by which it went back', () => `https://basescan.org/tx/${BACK}`],
  ['the address that it went back to', () => PAYEE],
  ['the amount that went back', () => '3,141592 USDC'],
  ['its description in another order', () => 'paes cesta grande'],
  ['a part of its description in capitals', () => 'ENTREGA À TARDE'],
]

it.each(quotations)('finds an order by %s', async (_, text) => {
  expect(await found(text())).toEqual([order.id])
})

it.each([
  ['its transaction', STRAY.tx],
  ['its transaction without 0x', STRAY.tx.slice(2)],
  ["an explorer's link", `Mandei: https://basescan.org/tx/${STRAY.tx}`],
  ['its memo', STRAY.memo],
  ["its payer's address", STRAY.payer],
  ['its amount', '2.718281 USDC'],
  ['its amount with a comma', '2,718281'],
])('finds money without an order by %s, also when it is handled', async (_, text) => {
  const quoted = async (more: object = {}) => {
    const { body } = await request(system.url)
      .get('/api/v1/attention')
      .query({ text, ...more })
      .set(asMerchant(merchant, PAYOUT))
    return body.data
  }
  const [item, ...others] = await quoted()
  expect([item?.payment?.tx_hash, others]).toEqual([STRAY.tx, []])
  await request(system.url).post(`/api/v1/attention/${item.id}/handle`).set(asMerchant(merchant, PAYOUT)).send({ facts: item.facts })
  expect(await quoted()).toMatchObject([{ id: item.id }])
  expect(await quoted({ handled: 'false' })).toEqual([])
  await request(system.url).post(`/api/v1/attention/${item.id}/reopen`).set(asMerchant(merchant, PAYOUT)).send({})
  expect(await found(text)).toEqual([])
})

it('finds nothing of another merchant, and nothing by what nobody has', async () => {
  for (const text of [order.id, TX, PAYER, 'PED-1042']) {
    const { body } = await request(system.url).get('/api/v1/orders').query({ text }).set(asMerchant(uuidv7()))
    expect(body.data).toEqual([])
  }
  for (const text of [uuidv7(), `0x${'00'.repeat(32)}`, `0x${'00'.repeat(20)}`, 'R$ 9.999,99', 'bolo', '%', '()', '0.000001 USDC'])
    expect(await found(text)).toEqual([])
})
