import { randomUUID } from 'node:crypto'
import type { Random } from '@ponte/service-kit/testing'
import type { Cluster } from './cluster'

export interface Post {
  /** POST without one. */
  method?: string
  path: string
  /** Without one the request carries no identity. */
  apiKey: string | null
  body: object | string
  key?: string
}

export interface Answer {
  status: number
  body: unknown
  replayed: boolean
}

/** Requests of merchants' servers, and answers that they should not have had. */
export interface Requests {
  /** One try; null when no server answered. */
  post(request: Post): Promise<Answer | null>
  /** The same request until it is answered: one key, so that however often it is sent, it has one effect. Null when refused or given up. */
  insist<T>(request: Post, signal: AbortSignal): Promise<T | null>
  /** A request that must be refused in this way, by any replica that is up. */
  refused(request: Post, status: number): Promise<void>
  get<T>(path: string, apiKey: string): Promise<T | null>
  /** Answers that no merchant should get. */
  wrong: string[]
}

const TRIES = 60
const RETRY_MS = 250
const ANSWER_MS = 10_000
/** The order was in no state for it when the request came: a race between merchant and payer, not a fault. */
const CONFLICT = 409
const UNAVAILABLE = 500

export function createRequests(cluster: Cluster, random: Random, count: (name: string) => void): Requests {
  const wrong: string[] = []
  const ask = async (path: string, init: RequestInit): Promise<Answer | null> => {
    try {
      const response = await fetch(`${random.pick(cluster.gatewayUrls)}${path}`, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
      const text = await response.text()
      const replayed = response.headers.get('idempotency-replayed') === 'true'
      count(`answered ${response.status}`)
      return { status: response.status, body: text === '' ? null : JSON.parse(text), replayed }
    } catch {
      count('not answered')
      return null
    }
  }
  const post = ({ method = 'POST', path, apiKey, body, key }: Post) =>
    ask(path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
        ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const isFinal = (answer: Answer | null): answer is Answer =>
    answer !== null && answer.status < UNAVAILABLE && !(answer.status === CONFLICT && codeOf(answer) === 'idempotency_in_progress')

  return {
    wrong,
    post,
    async get<T>(path: string, apiKey: string) {
      const answer = await ask(path, { headers: { Authorization: `Bearer ${apiKey}` } })
      return answer?.status === 200 ? (answer.body as T) : null
    },
    async insist<T>(given: Post, signal: AbortSignal) {
      const request = { key: randomUUID(), ...given }
      for (let tries = 0; tries < TRIES && !signal.aborted; tries++) {
        const answer = await post(request)
        if (isFinal(answer)) {
          if (answer.status < 300) return answer.body as T
          if (answer.status !== CONFLICT)
            wrong.push(`${request.method ?? 'POST'} ${request.path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
          return null
        }
        await new Promise(resolve => setTimeout(resolve, RETRY_MS))
      }
      return null
    },
    async refused(request, status) {
      const answer = await post(request)
      if (answer === null || answer.status >= UNAVAILABLE) return
      count(`refused with ${status}, as it should be`)
      if (answer.status !== status)
        wrong.push(`POST ${request.path} was answered ${answer.status} instead of ${status}: ${JSON.stringify(request.body)}`)
    },
  }
}

const codeOf = ({ body }: Answer): unknown => (typeof body === 'object' && body !== null ? Reflect.get(body, 'code') : undefined)
