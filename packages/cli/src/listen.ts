import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Ponte, type PonteError, type StoredEvent, signTestWebhook } from '@ponte/sdk'
import type { Output } from './output'
import type { ProfileFile } from './profile'

export interface ListenOptions {
  ponte: Ponte
  profile: ProfileFile
  output: Output
  forwardTo: string
  /** Where to begin; where it ended last time when absent, and at the first time with the next event. */
  from?: string | number | undefined
  types?: readonly string[] | undefined
  /** Neither shown nor kept; without one it signs with a secret that it makes and keeps. */
  secret?: string | undefined
  signal: AbortSignal
  /** Each time it is called, the last event is sent once more. */
  onResend(resend: () => void): void
}

const ATTEMPT_MS = 15_000
const BACKOFF_MAX_MS = 10_000

/**
 * Pulls events by cursor and posts their stored bytes to a program on this machine, signed with a local secret. The position moves on after a
 * 2xx alone and is kept, so neither sleep nor restart nor a program that is down loses an event; one may come twice.
 */
export async function listen({ ponte, profile, output, forwardTo, types, signal, ...options }: ListenOptions): Promise<void> {
  const known = profile.read().listen
  const own = known?.secret ?? `whsec_${randomBytes(32).toString('hex')}`
  const secret = options.secret ?? own
  const wanted = options.from ?? known?.positions[forwardTo] ?? 'now'
  // Kept at once, so that what comes while this program is away is not missed.
  const after = wanted === 'now' ? await newestCursor(ponte) : wanted
  const keep = (cursor: string | number) => {
    const positions = profile.read().listen?.positions ?? {}
    profile.save({ listen: { secret: own, positions: { ...positions, [forwardTo]: cursor } } })
  }
  keep(after)
  output.note(options.secret === undefined ? `Webhook secret of this forwarding: ${own}` : 'Signed with the webhook secret that was given.')
  output.note(`Forwarding to ${forwardTo} from event ${Number.parseInt(String(after), 10) + 1} on; r and Enter send the last one again.`)

  let last: StoredEvent | undefined
  options.onResend(() => {
    if (last) void forward(last).catch((error: unknown) => output.note(`not sent again: ${reasonOf(error)}`))
  })

  const forward = async (event: StoredEvent): Promise<boolean> => {
    const { body, headers } = await signTestWebhook(event.body ?? '', secret)
    const started = performance.now()
    const answer = await fetch(forwardTo, { method: 'POST', body, headers, redirect: 'manual', signal: AbortSignal.timeout(ATTEMPT_MS) })
    await answer.arrayBuffer()
    const ms = Math.round(performance.now() - started)
    const mark = answer.ok ? output.paint('green', String(answer.status)) : output.paint('red', String(answer.status))
    const id = Object(event.data).id
    output.show(
      { sequence: event.sequence, type: event.type, id, status: answer.status, ms },
      `${event.sequence}  ${event.type}  ${id}  ${mark}  ${output.paint('dim', `${ms} ms`)}`,
    )
    return answer.ok
  }

  const retry = {
    onRetry: ({ detail }: { detail: string }, ms: number) => output.note(`${detail} Again in ${ms} ms.`),
    onReset: ({ detail, resumeAfter }: PonteError) => output.note(`${detail} Forwarding goes on after ${resumeAfter}.`),
  }
  for await (const event of ponte.events.follow({ after, signal, includeBody: true, ...retry })) {
    if (!types || types.includes(event.type)) {
      last = event
      for (let attempt = 0; !signal.aborted; attempt++) {
        const waitMs = Math.min(BACKOFF_MAX_MS, 500 * 2 ** attempt)
        const taken = await forward(event).catch((error: unknown) => {
          output.note(`${forwardTo} does not answer (${reasonOf(error)}).`)
          return false
        })
        if (taken) break
        output.note(`Event ${event.sequence} is sent again in ${waitMs / 1_000} s.`)
        await pause(waitMs, undefined, { signal }).catch(() => undefined)
      }
    }
    if (signal.aborted) return
    keep(event.cursor)
  }
}

const newestCursor = async (ponte: Ponte) => (await ponte.events.list({ limit: 1 })).data[0]?.cursor ?? 0

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : String(cause)
}
