import { createTransport } from 'nodemailer'
import { isLoopback } from '../loopback'

/** Hands one mail to the operator's server. Rejects with an error that `isRefusal` may know. */
export interface Smtp {
  send(mail: { id: string; to: string; subject: string; text: string }): Promise<void>
  stop(): void
}

const CONNECT_MS = 10_000
const ANSWER_MS = 30_000
const CONNECTIONS = 2

/** Opens a pool of connections to `SMTP_URL`. Away from loopback it speaks TLS or nothing. */
export function openSmtp({ url, from }: { url: string; from: string }): Smtp {
  const { hostname } = new URL(url)
  const transport = createTransport(
    {
      ...{ url, pool: true, maxConnections: CONNECTIONS, requireTLS: !isLoopback(hostname) },
      ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: ANSWER_MS },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    },
    { from },
  )
  const domain = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '')
  return {
    async send({ id, to, subject, text }) {
      await transport.sendMail({ to: { name: '', address: to }, subject, text, messageId: `<${id}@${domain}>`, headers: HEADERS })
    },
    stop: () => transport.close(),
  }
}

/** No out-of-office answers. */
const HEADERS = { 'Auto-Submitted': 'auto-generated' }

/** The server refused this very mail, for good. A refusal of the log-in is the operator's to mend, and is no such. */
export function isRefusal(error: unknown): boolean {
  const { code, responseCode } = Object(error)
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && typeof responseCode === 'number' && responseCode >= 500
}

/** An error as logs have it: without the recipients, whom servers name in what they answer. */
export function faultOf(error: unknown): object | string {
  const { code, responseCode, command } = Object(error)
  return typeof code === 'string' ? { code, responseCode, command } : String(error)
}
