import type { Page } from 'playwright-core'
import { PAYER } from '../../../world'
import { largeDossier, manyEntries, onThreeNetworks } from '../order-states'
import { alert, dialog, type Shown, type Stop, settled } from './stop'
import { announceWallet, leaveSent, payBy, walletOnBase, walletWith } from './wallet'

const REQUEST_ID = '01a205ce-4a10-7d3e-8b1f-2c6d9e0f4a57'
const refused = (status: number, code: string) => ({ status, code, request_id: REQUEST_ID })

/** Presses what is found on a page that is there, and waits for the dialog. */
const asked = (find: (page: Page) => ReturnType<Page['locator']>) => async (page: Page) => {
  await settled(page)
  await find(page).click()
  await dialog(page)
}

/** States of recorded pages that need no other answers, or others only in a few fields. */
export function furtherPages(recorded: readonly Stop[], of: Shown): Stop[] {
  const from = (base: string, name: string, more: Partial<Stop>): Stop => {
    const found = recorded.find(stop => stop.name === base)
    if (!found) throw new Error(`No page is called ${base}.`)
    return { ...found, ...more, name, answersOf: base }
  }
  return [...payers(from, of), ...merchants(from, of)]
}
type From = (base: string, name: string, more: Partial<Stop>) => Stop

function payers(from: From, of: Shown): Stop[] {
  const waits = async (page: Page, request: string, found: string) => {
    await payBy(page, request)
    await page.locator(found).waitFor()
  }
  const refusals = '.wallets [role=alert]'
  const onThree = { [`/checkout/${of.pending.id}`]: { payment: onThreeNetworks(of.pending.id) } }
  const token = `/${of.subscription.payer_url?.split('/').at(-1)}`
  const subscription = (name: string, fields: object) =>
    from('payer-subscription', `payer-subscription-${name}`, { instead: { [token]: fields } })
  const refund = (name: string, fields: object, ready = settled) =>
    from('payer-refund', `payer-refund-${name}`, { instead: { [`/${of.claim.url?.split('/').at(-1)}`]: fields }, ready })
  const link = (name: string, fields: object) =>
    from('payer-link', `payer-link-${name}`, { instead: { [`/${of.link.url.split('/').at(-1)}`]: fields } })
  const charge = { brl_amount: '149.90', issued_at: '2026-11-01T12:00:00.000Z', paid_at: null, receipt_url: null }
  return [
    from('checkout', 'checkout-no-wallet', { hasNoWallet: true, ready: page => page.locator('[role=tab][aria-selected=false]').click() }),
    from('checkout', 'checkout-wallet-asking', { ready: page => waits(page, '() => new Promise(() => undefined)', '.step .spinner') }),
    from('checkout', 'checkout-wallet-refused', { ready: page => waits(page, '() => Promise.reject({ code: 4001 })', refusals) }),
    from('checkout', 'checkout-wallet-short', { ready: page => waits(page, walletWith(120_500_000n, 1n), refusals) }),
    from('checkout', 'checkout-wallet-gasless', { ready: page => waits(page, walletWith(900_000_000n, 0n), refusals) }),
    from('checkout', 'checkout-networks', {
      instead: onThree,
      ready: async page => {
        await page.getByRole('radio').last().check()
        await page.getByRole('tab').last().click()
      },
    }),
    from('checkout', 'checkout-networks-held', {
      instead: onThree,
      ready: async page => {
        await page.getByRole('radio').first().waitFor()
        await announceWallet(page, walletOnBase())
        await page.locator('.networks :checked').waitFor()
      },
    }),
    from('checkout', 'checkout-signed', { ready: page => leaveSent(page, of.pending.id, null, false) }),
    from('checkout', 'checkout-sent-slow', { ready: page => leaveSent(page, of.pending.id, `0x${'5d'.repeat(32)}`, true) }),
    from('checkout', 'checkout-branded', {
      instead: {
        '/branding': {
          ...{ color: '#7a1fa2', contact_email: 'ana@padaria.example', terms_url: 'https://padaria.example/termos' },
          logo_url: '/logos/padaria.svg',
        },
      },
      ready: async page => {
        await page.locator('.merchant-logo').waitFor()
        await page.locator('main ~ .safety summary').click()
      },
    }),
    subscription('preparing', { due: { brl_amount: '149.90', checkout_url: null, can_be_asked: false } }),
    subscription('paused', { due: null, paused: true, next_charge_at: null }),
    subscription('over', {
      ...{ status: 'cancelled', due: null, next_charge_at: null, ends_at: '2026-11-22T12:00:00.000Z' },
      charges: [
        { ...charge, status: 'unpaid' },
        {
          ...charge,
          status: 'paid',
          issued_at: '2026-10-01T12:00:00.000Z',
          paid_at: '2026-10-02T12:00:00.000Z',
          receipt_url: 'https://pay.ponte.example/pay/1',
        },
      ],
    }),
    from('payer-subscription-unpaid', 'payer-subscription-refused', {
      refused: { '/order': refused(409, 'not_due') },
      ready: async page => {
        await settled(page)
        await page.locator('.pay-now').click()
        await page.locator('.notice.bad').waitFor()
      },
    }),
    refund('checked', {}, async page => {
      await page.locator('input[name=payee_address]').fill('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
      await page.locator('input[name=tx_hash]').fill(`0x${'5d'.repeat(32)}`)
      await page.locator('input[name=amount]').fill('41,512916')
      await page.locator('button.primary').click()
      await page.locator('.claim-address').waitFor()
    }),
    refund('claimed', { status: 'claimed', payee_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }),
    refund('confirmed', {
      ...{ status: 'confirmed', payee_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', tx_hash: `0x${'5d'.repeat(32)}` },
    }),
    refund('expired', { status: 'expired' }),
    link('chosen', { kind: 'reusable', brl_amount: null, brl_amount_min: '10.00', brl_amount_max: '500.00', due_at: null }),
    link('ended', { status: 'ended' }),
    from('payer-subscription', 'payer-subscription-missing', { refused: { [token]: refused(404, 'not_found') }, ready: alert }),
  ]
}

function merchants(from: From, of: Shown): Stop[] {
  const cards = (n: number) => (page: Page) => page.locator('.card').nth(n).locator('.buttons button')
  const action = (page: Page) => page.locator('.heading-actions button').first()
  const endpoint = (page: Page) => page.locator('.endpoint').last().locator('.buttons').last().locator('button')
  const member = (page: Page) => page.locator('.card.team').first().locator('.buttons button')
  const change = {
    id: REQUEST_ID,
    payout_address: PAYER.address,
    requested_at: '2026-11-22T21:00:00.000Z',
    activates_at: '2026-11-25T21:00:00.000Z',
  }
  const permissions = ['orders:read', 'subscriptions:read', 'merchant:read']
  const second = { object: 'membership', merchant_id: REQUEST_ID, display_name: 'Café da Esquina', role: 'finance', permissions }
  return [
    from('orders', 'find', {
      ready: async page => {
        await settled(page)
        await page.keyboard.press('Control+k')
        await dialog(page)
      },
    }),
    from('onboarding', 'sign-in-refused', {
      refused: { '/token': { status: 400, error_code: 'invalid_credentials' } },
      ready: async page => {
        await page.locator('input[name=email]').fill('ana@padaria.example')
        await page.locator('input[name=password]').fill('another-password')
        await page.locator('button[type=submit]').click()
        await alert(page)
      },
    }),
    from('team', 'join', { path: `/dashboard/join#inv_${'0'.repeat(64)}`, ready: settled }),
    from('overview', 'store-switch', {
      instead: { '/api/v1/merchants': { data: [{ ...second, display_name: 'Padaria Estrela', role: 'owner' }, second] } },
      ready: async page => {
        await page.locator('.store-switch').waitFor()
        await settled(page)
      },
    }),
    from('month', 'month-dossier', {
      instead: { '/me/entries': { data: manyEntries(60), has_more: false }, '/me/exports': { data: [largeDossier] } },
      ready: async page => {
        await settled(page)
        await page.getByRole('checkbox').first().click()
        await page.locator('.chosen').waitFor()
      },
    }),
    from('orders', 'orders-refused', { refused: { '/me/orders': refused(429, 'rate_limited') }, ready: alert }),
    from('orders', 'orders-offline', {
      ready: async page => {
        await settled(page)
        await page.context().setOffline(true)
        await page.locator('.offline').waitFor()
      },
    }),
    from('new-order', 'new-order-faults', {
      ready: async page => {
        await dialog(page)
        await page.locator('input[name=brl_amount]').fill('muito')
        await page.locator('input[name=success_url]').fill('padaria')
        await page.getByRole('dialog').locator('button[type=submit]').click()
        await page.locator('[aria-invalid=true]').first().waitFor()
      },
    }),
    from('order-open', 'order-cancel', { ready: asked(action) }),
    from('order-open', 'order-cancelled', {
      instead: { [`/orders/${of.pending.id}`]: { status: 'cancelled', cancelled_at: '2026-11-23T00:29:00.000Z' } },
    }),
    from('subscription', 'subscription-cancel', { ready: asked(action) }),
    from('subscription', 'subscription-change', { ready: asked(page => page.locator('.card .buttons button').first()) }),
    from('subscription', 'subscription-over', {
      instead: {
        [`/subscriptions/${of.subscription.id}`]: { status: 'cancelled', next_charge_at: null, cancelled_at: '2026-11-23T00:29:00.000Z' },
      },
    }),
    from('delivery', 'delivery-dead', {
      instead: { [`/deliveries/${of.failed}`]: { status: 'dead', dead_reason: 'endpoint_deleted', next_attempt_at: null } },
    }),
    from('endpoints', 'endpoint-change', { ready: asked(page => endpoint(page).first()) }),
    from('endpoints', 'endpoint-remove', { ready: asked(page => endpoint(page).last()) }),
    from('team', 'team-role', { ready: asked(page => member(page).first()) }),
    from('team', 'team-remove', { ready: asked(page => member(page).last()) }),
    from('settings', 'payout-remove', { ready: asked(page => cards(1)(page).last()) }),
    from('settings', 'payout-waiting', {
      instead: {
        '/merchants/me': {
          pending_payout_change: { ...change, requested_by: REQUEST_ID, is_signed: false, is_approved: false, message: '' },
        },
      },
    }),
    from('settings', 'settings-rotate', { ready: asked(cards(5)) }),
    from('settings', 'customer-erase', { ready: asked(page => cards(7)(page).last()) }),
  ]
}
