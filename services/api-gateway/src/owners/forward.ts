import { type Caller, id, pathWith, waitInQuery } from '@ponte/contracts'
import type { Request, Response } from 'express'
import { pickHeaders } from './headers'
import type { Owner, OwnerAnswer } from './owner'

/** An owner's answer before the caller sees it. */
export interface ForwardedAnswer {
  status: number
  /** The caller had the same Idempotency-Key answered before. */
  isReplayed: boolean
  /** The gateway sent it twice: what refuses it may be its own effect. */
  isResent: boolean
  created: string | null
}

export interface ForwardOptions {
  createdAt?: string | undefined
  cachedS?: number | undefined
  isKeyed?: boolean
  onAnswer?(answer: ForwardedAnswer): Promise<void>
}

const REQUEST_HEADERS = ['content-type', 'idempotency-key', 'x-request-id'] as const

const METHODS = ['POST', 'PATCH', 'DELETE'] as const

/** Extra time for the owner because the caller asked it to wait. */
const waitOf = (wait: unknown): number => (wait === undefined ? 0 : (waitInQuery.safeParse(wait).data ?? 0) * 1_000)

/** Whether the caller wants the answer when there is one. */
export const isWaiting = ({ query }: Pick<Request, 'query'>): boolean => waitOf(query.wait) > 0

/**
 * Forwards a request to its owner byte for byte, and returns the owner's answer unchanged. A 201 gets the `Location` of what was created, as
 * `createdAt` has it: only the gateway knows by which path its caller reads it. With `cachedS` anyone may keep a 200 for so long.
 */
export async function forward(
  owner: Owner,
  caller: Caller,
  path: string,
  req: Request,
  res: Response,
  options: ForwardOptions = {},
): Promise<void> {
  const method = METHODS.find(known => known === req.method) ?? 'GET'
  const query = req.originalUrl.indexOf('?')
  const answer = await owner.ask(caller, {
    method,
    path: query < 0 ? path : `${path}${req.originalUrl.slice(query)}`,
    headers: { ...pickHeaders(req.headers, REQUEST_HEADERS), 'x-request-id': String(res.locals.requestId) },
    ...(Buffer.isBuffer(req.body) && method !== 'GET' ? { body: req.body } : {}),
    isKeyed: options.isKeyed ?? false,
    waitMs: waitOf(req.query.wait),
  })
  const created = answer.status === 201 ? createdIn(answer) : null
  const isResent = answer.isResent === true
  const isReplayed = answer.headers['idempotency-replayed'] === 'true'
  await options.onAnswer?.({ status: answer.status, isReplayed, isResent, created })
  const headers = {
    ...answer.headers,
    ...(answer.status === 200 && options.cachedS !== undefined ? { 'Cache-Control': `public, max-age=${options.cachedS}` } : {}),
    ...(created !== null && options.createdAt !== undefined ? { Location: pathWith(options.createdAt, { id: created }) } : {}),
  }
  passOn({ ...answer, headers }, req, res)
}

/** An owner's answer as it is. */
export function passOn({ status, headers, body }: OwnerAnswer, req: Request, res: Response): void {
  res.status(status)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** The id of what an answer shows as created. */
const createdIn = ({ body }: OwnerAnswer): string | null => id.safeParse(Object(JSON.parse(body.toString('utf8'))).id).data ?? null
