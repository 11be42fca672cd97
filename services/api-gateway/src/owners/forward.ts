import { type Caller, id } from '@ponte/contracts'
import type { Request, Response } from 'express'
import { pickHeaders } from './headers'
import type { Owner } from './owner'

const REQUEST_HEADERS = ['content-type', 'idempotency-key', 'x-request-id'] as const

const METHODS = ['POST', 'PATCH', 'DELETE'] as const
const WAIT_S_MAX = 20

/** How much longer the owner may take because the caller asked it to wait. */
const waitOf = (wait: unknown): number =>
  typeof wait === 'string' && /^\d{1,2}$/.test(wait) ? Math.min(WAIT_S_MAX, Number(wait)) * 1_000 : 0

/**
 * Forwards a request to its owner byte for byte, and returns the owner's answer unchanged. A 201 gets the `Location` of what was created in
 * the collection `createdIn`: only the gateway knows by which path its caller reads it.
 */
export async function forward(
  owner: Owner,
  caller: Caller,
  path: string,
  req: Request,
  res: Response,
  options: { createdIn?: string | undefined } = {},
): Promise<void> {
  const method = METHODS.find(known => known === req.method) ?? 'GET'
  const query = req.originalUrl.indexOf('?')
  const answer = await owner.ask(caller, {
    method,
    path: query < 0 ? path : `${path}${req.originalUrl.slice(query)}`,
    headers: { ...pickHeaders(req.headers, REQUEST_HEADERS), 'x-request-id': String(res.locals.requestId) },
    ...(Buffer.isBuffer(req.body) && method !== 'GET' ? { body: req.body } : {}),
    waitMs: waitOf(req.query.wait),
  })
  res.status(answer.status)
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value)
  if (answer.status === 201 && options.createdIn !== undefined) {
    const created = id.safeParse(Object(JSON.parse(answer.body.toString('utf8'))).id)
    if (created.success) res.setHeader('Location', `${options.createdIn}/${created.data}`)
  }
  res.end(req.method === 'HEAD' ? undefined : answer.body)
}
