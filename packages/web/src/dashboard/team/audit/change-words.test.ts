import { auditPt } from './audit-pt'
import { changesIn, pageOf } from './change-words'

const texts = { roles: { finance: 'Financeiro' }, scopeNames: { 'orders:read': 'Ver cobranças' }, audit: auditPt }

test('fields, roles and scopes are words; what is not known is shown as it is', () => {
  expect(changesIn(['payout_address', 'role:finance', 'orders:read', 'role:other', 'new_field'], texts)).toEqual([
    ...['endereço de recebimento', 'Financeiro', 'Ver cobranças', 'role:other', 'new_field'],
  ])
})

test('an order, a subscription and a delivery have a page', () => {
  expect(pageOf({ action: 'order.cancel', target: 'a' })).toBe('/orders/a')
  expect(pageOf({ action: 'deliveries.replay', target: null })).toBeNull()
  expect(pageOf({ action: 'endpoint_secret.rotate', target: 'a' })).toBeNull()
})
