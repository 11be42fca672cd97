import { createHash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { attemptLimit } from './attempts'
import type { User } from './users'

export interface Mail {
  to: string
  subject: string
  text: string
}

/** Kinds of mailed links, in the words of Supabase Auth. */
export type LinkType = 'signup' | 'recovery'

const LINK_LIFETIME_MS = 3_600_000
const LINKS_MAX = 1_000
const MAILS_MAX = 5
const TEXTS: Record<LinkType, [subject: string, text: string]> = {
  signup: ['Confirme seu e-mail / Confirm your address', 'Confirme em uma hora / Confirm within an hour'],
  recovery: ['Escolha uma nova senha / Choose a new password', 'Escolha em uma hora / Choose within an hour'],
}
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

export interface Links {
  /** Counts a mail to this address, whether there is such a user or not; false when that is too many. */
  takeMail(email: string): boolean
  /** Sends a link, which voids the one of before. */
  send(user: User, type: LinkType, page: string): void
  /** The user whom a link was sent to, once. */
  use(type: LinkType, token: string): string | undefined
  forget(userId: string): void
}

/** Links that are good once and for an hour. What proves something stands behind the #, which no server and no log sees. */
export function mailedLinks(mail: (mail: Mail) => void): Links {
  const links = new LRUCache<string, { userId: string; type: LinkType }>({ max: LINKS_MAX, ttl: LINK_LIFETIME_MS })
  const mails = attemptLimit(MAILS_MAX)
  const forget = (userId: string, type?: LinkType) => {
    for (const [hash, link] of [...links.entries()]) if (link.userId === userId && (type ?? link.type) === link.type) links.delete(hash)
  }
  return {
    takeMail: email => mails.take(email.toLowerCase()),
    send({ id, email }, type, page) {
      const token = randomBytes(24).toString('hex')
      forget(id, type)
      links.set(hashOf(token), { userId: id, type })
      const [subject, text] = TEXTS[type]
      mail({ to: email, subject, text: `${text}: ${page}#token_hash=${token}&type=${type}` })
    },
    use(type, token) {
      const hash = hashOf(token)
      const link = links.get(hash)
      if (link?.type !== type) return undefined
      links.delete(hash)
      return link.userId
    },
    forget: userId => forget(userId),
  }
}
