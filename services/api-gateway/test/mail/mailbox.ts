import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  to: string
  raw: string
}

/** An SMTP server on a real socket that keeps what it takes; `refuse` answers a recipient with a code instead. */
export async function startMailbox() {
  const received: ReceivedMail[] = []
  let refusal: number | null = null
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['AUTH', 'STARTTLS'] },
    onRcptTo(_address, _session, done) {
      done(refusal === null ? null : Object.assign(new Error('refused'), { responseCode: refusal }))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        for (const { address } of session.envelope.rcptTo) received.push({ to: address, raw: Buffer.concat(chunks).toString() })
        done(null)
      })
    },
  })
  server.on('error', () => undefined)
  const listening = async (port: number) => new Promise<void>(resolve => void server.listen(port, '127.0.0.1', resolve))
  await listening(0)
  const { port } = server.server.address() as AddressInfo
  return {
    received,
    url: `smtp://127.0.0.1:${port}`,
    refuse(code: number | null) {
      refusal = code
    },
    stop: () => new Promise<void>(resolve => server.close(() => resolve())),
  }
}

/** The text of a mail as a reader shows it. */
export function textOf({ raw }: ReceivedMail): string {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  if (/^Content-Transfer-Encoding: base64/im.test(head)) return Buffer.from(body, 'base64').toString()
  if (!/^Content-Transfer-Encoding: quoted-printable/im.test(head)) return body
  const bytes = body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
export const messageIdOf = ({ raw }: ReceivedMail) => /^Message-ID: (\S+)/im.exec(raw)?.[1]
