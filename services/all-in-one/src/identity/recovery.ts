import { createHash, randomBytes } from 'node:crypto'
import express, { Router } from 'express'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { attemptLimit } from './attempts'
import type { IdentityUsers } from './users'

export interface Mail {
  to: string
  subject: string
  text: string
}

const LINK_LIFETIME_MS = 3_600_000
const LINKS_MAX = 1_000
const MAILS_MAX = 5
const PASSWORD_LENGTH_MIN = 8

const form = z.object({ token: z.string().max(200), password: z.string().max(1024) })
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

export interface PasswordRecovery {
  pages: Router
  /** Sends a link when there is such a user; the answer does not reveal whether there is. False after too many mails to one address. */
  request(email: string): boolean
}

/** Password reset by mail: a link that is good once and for an hour, and the form it leads to. */
export function passwordRecovery(users: IdentityUsers, options: { baseUrl: string; mail(mail: Mail): void }): PasswordRecovery {
  const userIdByLink = new LRUCache<string, string>({ max: LINKS_MAX, ttl: LINK_LIFETIME_MS })
  const mails = attemptLimit(MAILS_MAX)
  const pages = Router()
  pages.get('/verify', (req, res) => {
    const known = typeof req.query.token === 'string' && userIdByLink.has(hashOf(req.query.token))
    if (known) res.type('html').send(formPage(String(req.query.token)))
    else res.status(400).type('html').send(page('This link is not valid any more', 'Ask for a new one at the log-in.'))
  })
  pages.post('/verify', express.urlencoded({ extended: false, limit: '4kb' }), async (req, res) => {
    const { token, password } = form.safeParse(req.body ?? {}).data ?? { token: '', password: '' }
    if (password.length < PASSWORD_LENGTH_MIN)
      return void res
        .status(422)
        .type('html')
        .send(formPage(token, `Use at least ${PASSWORD_LENGTH_MIN} characters.`))
    const link = hashOf(token)
    const userId = userIdByLink.get(link)
    // Taken before the password is hashed, so that a link is good once.
    userIdByLink.delete(link)
    if (userId === undefined)
      return void res.status(400).type('html').send(page('This link is not valid any more', 'Ask for a new one at the log-in.'))
    await users.resetPassword(userId, password)
    res.type('html').send(page('The new password is set', 'Log in with it. All other sessions have ended.'))
  })
  return {
    pages,
    request(email: string): boolean {
      const address = email.toLowerCase()
      if (!mails.take(address)) return false
      const user = users.find(address)
      if (!user) return true
      const token = randomBytes(24).toString('base64url')
      userIdByLink.set(hashOf(token), user.id)
      const link = `${options.baseUrl}/verify?type=recovery&token=${token}`
      options.mail({ to: user.email, subject: 'Reset your password', text: `Set a new password within an hour: ${link}` })
      return true
    },
  }
}

const page = (title: string, body: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body><main><h1>${title}</h1><p>${body}</p></main></body></html>
`

const escaped = (text: string) => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

const formPage = (token: string, fault = '') =>
  page(
    'Choose a new password',
    `${fault}</p><form method="post" action="verify"><input type="hidden" name="token" value="${escaped(token)}">
<label>New password <input type="password" name="password" minlength="${PASSWORD_LENGTH_MIN}" autocomplete="new-password" required autofocus></label>
<button>Set password</button></form><p>`,
  )
