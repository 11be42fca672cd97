import type { Caller } from '@ponte/contracts'
import type { Request, Response } from 'express'
import { pickHeaders } from './headers'
import type { Owner } from './owner'

const REQUEST_HEADERS = ['content-type', 'idempotency-key', 'x-request-id'] as const

/** Forwards a request to its owner byte for byte, and returns the owner's answer unchanged. */
export async function forward(owner: Owner, caller: Caller, path: string, req: Request, res: Response): Promise<void> {
  const method = req.method === 'POST' || req.method === 'PATCH' ? req.method : 'GET'
  const query = req.originalUrl.indexOf('?')
  const answer = await owner.ask(caller, {
    method,
    path: query < 0 ? path : `${path}${req.originalUrl.slice(query)}`,
    headers: { ...pickHeaders(req.headers, REQUEST_HEADERS), 'x-request-id': String(res.locals.requestId) },
    ...(Buffer.isBuffer(req.body) && method !== 'GET' ? { body: req.body } : {}),
  })
  res.status(answer.status)
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value)
  res.end(req.method === 'HEAD' ? undefined : answer.body)
}
