import type { MailLanguage } from '@ponte/contracts'
import type { Mail, MailKind } from './mail'
import { en } from './texts-en'
import { type MailTexts, pt } from './texts-pt'

const TEXTS: Readonly<Record<MailLanguage, MailTexts>> = { pt, en }
const LOCALES: Readonly<Record<MailLanguage, string>> = { pt: 'pt-BR', en: 'en-GB' }
const TIMES: readonly string[] = ['at', 'activates_at', 'expires_at', 'failing_since']
const LINE_MAX = 200

/** Subject and plain text. What members wrote themselves stands in lines of its own, shortened. */
export function mailText(mail: Pick<Mail, 'kind' | 'language' | 'facts'>, dashboard: string): { subject: string; text: string } {
  const { kind, language, facts } = mail
  const texts = TEXTS[language]
  const lines = Object.entries(texts.facts).flatMap(([name, title]) => {
    const value = name in facts ? shownValue(name, facts[name], language) : null
    return value === null ? [] : [`${title}: ${value}`]
  })
  // To a payer, who is no member and has no dashboard. Without a link, because a mail with a code that leads somewhere is what a thief would send.
  if (kind === 'refund_claim.code') {
    const text = [`${texts.subjects[kind]}.`, '', ...lines, '', texts.advice.code, '', texts.codeFooter, ''].join('\n')
    return { subject: `Ponte: ${texts.subjects[kind]}`, text }
  }
  const isInvitation = kind === 'invitation'
  const page = isInvitation ? `/join#${facts.token}` : typeof facts.page === 'string' ? facts.page : '/settings'
  const footer = isInvitation ? [] : ['', texts.footer]
  const text = [`${texts.subjects[kind]}.`, '', ...lines, '', texts.advice[adviceOn(kind)], `${dashboard}${page}`, ...footer, ''].join('\n')
  return { subject: `Ponte: ${texts.subjects[kind]}`, text }
}

function adviceOn(kind: MailKind): keyof MailTexts['advice'] {
  if (kind === 'invitation') return kind
  if (kind.startsWith('payment.')) return 'payment'
  if (/^(money|subscription|webhook)\./.test(kind)) return 'event'
  return ['payout.waiting', 'payout.signed', 'owner.waiting', 'owner.confirmed'].includes(kind) ? 'waiting' : 'account'
}

/** Null for what is not there, but for an address, which may be none. */
function shownValue(name: string, value: unknown, language: MailLanguage): string | null {
  if (name === 'address' && value === null) return TEXTS[language].none
  if (name === 'user' && value === 'ponte') return TEXTS[language].ponte
  if (Array.isArray(value)) return value.join(', ').slice(0, LINE_MAX)
  if (typeof value !== 'string' || value === '') return null
  return TIMES.includes(name) ? timeOf(value, language) : value.replace(/\s+/g, ' ').slice(0, LINE_MAX)
}

function timeOf(value: string, language: MailLanguage): string {
  const options = { dateStyle: 'long', timeStyle: 'short', timeZone: 'America/Sao_Paulo' } as const
  return `${new Intl.DateTimeFormat(LOCALES[language], options).format(new Date(value))} (America/Sao_Paulo)`
}
