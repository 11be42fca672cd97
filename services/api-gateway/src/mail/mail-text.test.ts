import { accountNotice } from './account-notice'
import { retryDelayMs } from './mail-retry'
import { mailText } from './mail-text'

const dashboard = 'https://pay.example/dashboard'
const at = '2026-11-20T12:00:00.000Z'

test('a mail in Portuguese names merchant, address and times in São Paulo, and where to stop it', () => {
  const facts = { merchant: 'Padaria', user: 'ana@example.com', at, address: '0xabc', activates_at: '2026-11-22T12:00:00.000Z' }
  const { subject, text } = mailText({ kind: 'payout.waiting', language: 'pt', facts }, dashboard)
  expect(subject).toBe('Ponte: Foi pedida uma troca do endereço de recebimento')
  for (const part of [
    'Loja: Padaria',
    'Por: ana@example.com',
    '20 de novembro de 2026 às 09:00',
    'Endereço: 0xabc',
    '22 de novembro',
    `${dashboard}/settings`,
  ])
    expect(text).toContain(part)
})

test('what a member wrote adds no line and no header', () => {
  const facts = { merchant: `Padaria\r\nBcc: x@example.com\n\n${'a'.repeat(500)}`, user: 'u', at }
  const { subject, text } = mailText({ kind: 'key.created', language: 'en', facts }, dashboard)
  expect(subject).toBe('Ponte: A named API key was made')
  expect(text.split('\n').filter(line => line.startsWith('Bcc'))).toEqual([])
  expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThan(220)
})

test('an address that was cleared is named as none, and what Ponte did by itself as that', () => {
  const { text } = mailText({ kind: 'payout.changed', language: 'en', facts: { user: 'ponte', address: null, at } }, dashboard)
  expect(text).toContain('Address: none')
  expect(text).toContain('By: Ponte, because its time had come')
})

test.each([
  ['merchant.update', ['display_name', 'pending_payout_change'], 'payout.waiting'],
  ['merchant.update', ['payout_address', 'webhook_url'], 'payout.changed'],
  ['merchant.update', ['payout_addresses'], 'payout.changed'],
  ['payout_change.sign', ['pending_payout_change'], 'payout.signed'],
  ['payout_change.sign', ['payout_address'], 'payout.changed'],
  ['payout_change.approve', ['payout_addresses'], 'payout.changed'],
  ['merchant.update', ['webhook_url'], 'webhook_url.changed'],
  ['merchant.update', ['display_name'], 'merchant.renamed'],
  ['merchant.create', ['merchant'], undefined],
  ['api_key.rotate', ['api_key'], 'key.rotated'],
  ['member.join', ['role:owner', 'pending_owner_change'], 'owner.waiting'],
  ['member.join', ['role:viewer'], 'member.joined'],
  ['constructor', [], undefined],
])('%s of %j is the mail %s', (action, changed, kind) => {
  const entry = { merchantId: 'm', userId: 'u', action, changed, network: null, at: new Date(at) }
  expect(accountNotice(entry, { payoutAddress: null, payoutAddresses: null, pendingPayout: null, ownerChanges: [] })?.kind).toBe(kind)
})

test('a payout address for one network is named with its network, and beside that of all others', () => {
  const entry = {
    merchantId: 'm',
    userId: 'u',
    action: 'merchant.update',
    changed: ['pending_payout_change'],
    network: null,
    at: new Date(at),
  }
  const payout = { payoutAddress: '0x01', payoutAddresses: { 10: '0x02' }, ownerChanges: [] }
  const lines = (pendingPayout: { chainId: number; address: string; activatesAt: Date } | null, action: string) => {
    const notice = accountNotice({ ...entry, action }, { ...payout, pendingPayout })
    if (!notice) throw new Error('no mail')
    return mailText({ kind: notice.kind, language: 'en', facts: JSON.parse(JSON.stringify(notice.facts)) }, dashboard).text.split('\n')
  }
  const waiting = lines({ chainId: 137, address: '0x03', activatesAt: new Date(at) }, 'merchant.update')
  expect(waiting).toEqual(expect.arrayContaining(['Address: 0x03', 'On the network: 137', 'On single networks: 10 0x02']))
  expect(lines(null, 'payout_change.activate')).toEqual(expect.arrayContaining(['Address: 0x01', 'On single networks: 10 0x02']))
})

test('a mail that is not taken is tried for two days and more, then given up', () => {
  const delays = Array.from({ length: 9 }, (_, n) => retryDelayMs(n + 1))
  expect(delays[0]).toBe(60_000)
  expect(delays[8]).toBeNull()
  expect(delays.slice(0, 8).reduce<number>((sum, delay) => sum + (delay ?? 0), 0)).toBeGreaterThan(39 * 3_600_000)
})
