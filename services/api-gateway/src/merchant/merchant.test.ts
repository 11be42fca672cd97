import { addressRange, parseEvent } from '@ponte/contracts'
import {
  activateWebhookSecret,
  createMerchant,
  inForce,
  type Merchant,
  rotateWebhookSecret,
  SECRET_ACTIVATES_AFTER_MS,
  termsOf,
  updateMerchant,
} from './merchant'
import { warningsOf } from './warnings'

const at = new Date('2026-11-20T12:00:00.000Z')
const later = (ms: number) => new Date(at.getTime() + ms)
const id = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
const given = { id, userId: 'user-1', sealedWebhookSecret: 'sealed-1', at }
const open = (body: Partial<Parameters<typeof createMerchant>[0]> = {}) => createMerchant({ display_name: 'Padaria', ...body }, given)

const update = (merchant: Merchant, body: Parameters<typeof updateMerchant>[1], at: Date) =>
  updateMerchant(
    merchant,
    body,
    { id, userId: 'user-1', at, owners: ['user-1'] },
    { delayMs: 0, unsignedDelayMs: 0, ownerDelayMs: 0, payoutHoldMs: 0, toleranceMaxUnits: 5_000_000n },
  )

const fieldAtFault = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    return Reflect.get(Object(error), 'errors')?.[0]?.path
  }
  return undefined
}

test('a new address and a new name in one body are both applied', () => {
  const { merchant } = open()
  const change = update(merchant, { display_name: 'Outra', payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }, later(5))
  expect(change.changed).toEqual(['display_name', 'payout_address'])
})

test('the tolerance is changed, taken back and bounded, and travels with the terms', () => {
  const { merchant } = open()
  const chosen = update(merchant, { payment_tolerance: '1' }, later(5))
  expect([chosen.changed, termsOf(chosen.merchant).payment_tolerance]).toEqual([['payment_tolerance'], '1.000000'])
  expect(chosen.events[0]?.data).toMatchObject({ version: 2, payment_tolerance: '1.000000' })
  expect(update(chosen.merchant, { payment_tolerance: '1.00' }, later(6)).changed).toEqual([])
  expect(update(chosen.merchant, { display_name: 'Outra' }, later(6)).merchant.paymentToleranceUnits).toBe(1_000_000n)
  const cleared = update(chosen.merchant, { payment_tolerance: null }, later(7))
  expect([cleared.changed, termsOf(cleared.merchant).payment_tolerance]).toEqual([['payment_tolerance'], null])
  expect(fieldAtFault(() => update(merchant, { payment_tolerance: '5.000001' }, later(8)))).toBe('payment_tolerance')
})

test('the limit of refunds is changed, zero too, taken back, and not while the account is frozen', () => {
  const { merchant } = open()
  const chosen = update(merchant, { refund_approval_above: '0' }, later(5))
  expect([chosen.changed, termsOf(chosen.merchant).refund_approval_above]).toEqual([['refund_approval_above'], '0.000000'])
  expect(update(chosen.merchant, { refund_approval_above: '0.00' }, later(6)).changed).toEqual([])
  const cleared = update(chosen.merchant, { refund_approval_above: null }, later(7))
  expect([cleared.changed, termsOf(cleared.merchant).refund_approval_above]).toEqual([['refund_approval_above'], null])
  expect(() => update({ ...chosen.merchant, frozenAt: later(6) }, { refund_approval_above: null }, later(7))).toThrow('frozen')
})

test('a new merchant is published to the others as version 1, with its secret sealed', () => {
  const { merchant, events } = open({ payout_address: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' })
  expect(events).toHaveLength(1)
  const event = { id, occurred_at: at.toISOString(), trace: null, ...events[0] }
  expect(parseEvent(event).data).toMatchObject({ merchant_id: id, version: 1, sealed_webhook_secret: 'sealed-1', webhook_url: null })
  expect(merchant.payoutAddress).toBe('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
})

test('payout_address is EIP-55 checked', () => {
  expect(fieldAtFault(() => open({ payout_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' }))).toBe('payout_address')
  expect(fieldAtFault(() => open({ payout_address: `0x${'0'.repeat(40)}` }))).toBe('payout_address')
})

test.each([
  'ftp://example.com/',
  'javascript:alert(1)',
  'example.com',
  'http:example.com',
  'https://user:pw@example.com/',
  'https://user@example.com/',
  '//example.com',
  'https://',
  'https://example.com:22/',
  'http://example.com:0/',
  'http://example.com:6379/',
])('webhook_url %j is refused', webhook_url => {
  expect(fieldAtFault(() => open({ webhook_url }))).toBe('webhook_url')
})

describe('an internal webhook_url is accepted with a warning', () => {
  const warned = (webhook_url: string, policy = {}) => warningsOf(open({ webhook_url }).merchant, policy).length > 0
  const ranges = (text: string) => [addressRange.parse(text)]

  test('unless it is public or there is none', () => {
    expect(warned('http://192.168.1.9/hook')).toBe(true)
    expect(warned('https://example.com/')).toBe(false)
    expect(warningsOf(open().merchant, {})).toEqual([])
  })

  test('of what the dispatcher refuses, and of nothing that it allows', () => {
    expect(warned('http://127.0.0.1:8091/webhooks', { allowed: ranges('127.0.0.1/32') })).toBe(false)
    expect(warned('http://127.0.0.2/', { allowed: ranges('127.0.0.1/32') })).toBe(true)
    expect(warned('http://203.0.113.9/', { denied: ranges('203.0.113.0/24') })).toBe(true)
  })
})

test('an update changes what it names, clears with null, and grows the version by one', () => {
  const { merchant } = open({ webhook_url: 'https://example.com/a' })
  const change = update(merchant, { webhook_url: null }, later(5))
  expect(change.merchant).toMatchObject({ version: 2, webhookUrl: null, displayName: 'Padaria', updatedAt: later(5), createdAt: at })
  expect(change.changed).toEqual(['webhook_url'])
  expect(change.events[0]?.data).toMatchObject({ version: 2, webhook_url: null })
})

test('an update that changes nothing has no event and keeps the version', () => {
  const { merchant } = open()
  expect(update(merchant, { display_name: 'Padaria' }, later(5))).toEqual({ merchant, events: [], changed: [] })
})

describe('the webhook secret in rotation', () => {
  const rotated = (): Merchant => rotateWebhookSecret(open().merchant, 'sealed-2', at).merchant

  test('a rotated secret waits: the old one stays in force', () => {
    expect(rotated()).toMatchObject({
      sealedWebhookSecret: 'sealed-1',
      pending: { sealed: 'sealed-2', activatesAt: later(SECRET_ACTIVATES_AFTER_MS) },
    })
    expect(inForce(rotated(), later(SECRET_ACTIVATES_AFTER_MS - 1)).sealedWebhookSecret).toBe('sealed-1')
  })

  test('the merchant activates it at once', () => {
    const change = activateWebhookSecret(rotated(), later(10))
    expect(change.merchant).toMatchObject({ sealedWebhookSecret: 'sealed-2', pending: null, version: 3 })
    expect(change.events[0]?.data).toMatchObject({ sealed_webhook_secret: 'sealed-2', sealed_pending_webhook_secret: null })
  })

  test('24 hours later it is in force by itself, and any later change writes that down', () => {
    const day = later(SECRET_ACTIVATES_AFTER_MS)
    expect(inForce(rotated(), day)).toMatchObject({ sealedWebhookSecret: 'sealed-2', pending: null })
    const { merchant } = update(rotated(), { display_name: 'Outra' }, day)
    expect(merchant).toMatchObject({ sealedWebhookSecret: 'sealed-2', pending: null })
    expect(() => activateWebhookSecret(rotated(), day)).toThrow('No new webhook secret is waiting')
  })

  test('rotating again replaces the one that waits and starts a new day', () => {
    const again = rotateWebhookSecret(rotated(), 'sealed-3', later(1000)).merchant
    expect(again).toMatchObject({
      sealedWebhookSecret: 'sealed-1',
      pending: { sealed: 'sealed-3', activatesAt: later(1000 + SECRET_ACTIVATES_AFTER_MS) },
    })
  })

  test('activating when none waits is refused', () => {
    expect(() => activateWebhookSecret(open().merchant, at)).toThrow('No new webhook secret is waiting')
  })
})
