import { type Counter, every, type Logger, type Loop } from '@ponte/service-kit'
import { isStale, type Mail } from './mail'
import { retryDelayMs } from './mail-retry'
import { mailText } from './mail-text'
import { faultOf, isRefusal, type Smtp } from './smtp'

const LOOK_MS = 5_000
const FORGET_MS = 3_600_000
const AT_ONCE = 20
const SEALED = 'sealed_'

interface Mails {
  claim(limit: number): Promise<Mail[]>
  sent(id: string): Promise<void>
  failed(id: string, error: string, retryAt: Date | null): Promise<void>
  forget(): Promise<void>
  waiting(): Promise<number>
}

export interface MailerDeps {
  mails: Mails
  smtp: Smtp
  dashboard: string
  /** Opens what was sealed by the mail's id. */
  unseal(sealed: string, id: string): string
  now: () => Date
  logger: Logger
}

/**
 * Sends what waits, at least once: a process that dies between sending and recording sends again, under the same Message-ID. Safe in any number of
 * replicas.
 */
export function createMailer(deps: MailerDeps): Loop {
  const { mails, smtp, now, logger } = deps
  let counted: Counter<'outcome'> | undefined
  const opened = ({ facts, ...mail }: Mail) => {
    const open = ([name, value]: [string, unknown]) =>
      name.startsWith(SEALED) ? [name.slice(SEALED.length), deps.unseal(String(value), mail.id)] : [name, value]
    return { ...mail, facts: Object.fromEntries(Object.entries(facts).map(open)) }
  }
  const send = async (mail: Mail): Promise<unknown> => {
    if (isStale(mail, now())) {
      await mails.failed(mail.id, 'It had expired.', null)
      return null
    }
    try {
      await smtp.send({ id: mail.id, to: mail.address, ...mailText(opened(mail), deps.dashboard) })
    } catch (error) {
      const delayMs = isRefusal(error) ? null : retryDelayMs(mail.attempts)
      counted?.inc({ outcome: 'failed' })
      await mails.failed(mail.id, String(error), delayMs === null ? null : new Date(now().getTime() + delayMs))
      return error
    }
    counted?.inc({ outcome: 'sent' })
    await mails.sent(mail.id)
    return null
  }
  const turn = async () => {
    const due = await mails.claim(AT_ONCE)
    const failures = (await Promise.all(due.map(send))).filter(error => error !== null)
    if (failures.length > 0) logger.warn('mails were not sent', { mails: failures.length, error: faultOf(failures[0]) })
    return due.length === AT_ONCE && failures.length === 0
  }
  const loop = every('mail', LOOK_MS, turn, logger)
  const retention = every('mail retention', FORGET_MS, mails.forget, logger)
  return {
    ...loop,
    async start() {
      await loop.start?.()
      await retention.start?.()
    },
    async stop() {
      await retention.stop?.()
      await loop.stop?.()
      smtp.stop()
    },
    observe(metrics) {
      metrics.observed('ponte_mails_waiting', 'Mails that are not sent yet', mails.waiting)
      counted = metrics.counter('ponte_mails_attempts_total', 'Attempts at sending a mail', { outcome: ['sent', 'failed'] })
    },
  }
}
