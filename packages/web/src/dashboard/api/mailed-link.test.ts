import { mailedLinkIn } from './mailed-link'

test.each([
  ['of our mails', '#token_hash=abc&type=recovery', { kind: 'proof', type: 'recovery', tokenHash: 'abc' }],
  [
    'that came by the provider',
    '#access_token=a.b.c&expires_at=1795000000&expires_in=3600&refresh_token=r&sb=&token_type=bearer&type=signup',
    { kind: 'session', type: 'signup', grant: { access_token: 'a.b.c', refresh_token: 'r', expires_in: 3600 } },
  ],
  [
    'that the provider refused',
    '#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid+or+has+expired&sb=',
    { kind: 'refused' },
  ],
])('a link %s is known', (_name, hash, link) => {
  expect(mailedLinkIn(hash)).toEqual(link)
})

test.each([
  ['an invitation', `#inv_${'0123456789abcdef'.repeat(4)}`],
  ['a place of the page', '#content'],
  ['nothing', ''],
  ['a link that only logs in', '#token_hash=abc&type=magiclink'],
  ['a session that names no link', '#access_token=a&refresh_token=r'],
])('%s is no link from a mail', (_name, hash) => {
  expect(mailedLinkIn(hash)).toBeNull()
})
