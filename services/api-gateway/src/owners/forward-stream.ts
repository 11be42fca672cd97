import { pipeline } from 'node:stream/promises'
import type { Caller } from '@ponte/contracts'
import type { Request, Response } from 'express'
import type { Owner } from './owner'

/** Forwards a GET whose answer may be of any size. Breaks the connection where the owner's breaks off, so that a part is not taken for the whole. */
export async function forwardStream(owner: Owner, caller: Caller, path: string, req: Request, res: Response): Promise<void> {
  const query = req.originalUrl.indexOf('?')
  const isGone = new AbortController()
  res.once('close', () => isGone.abort())
  const headers = { 'x-request-id': String(res.locals.requestId) }
  const fullPath = query < 0 ? path : `${path}${req.originalUrl.slice(query)}`
  const answer = await owner.open(caller, { method: 'GET', path: fullPath, headers }, isGone.signal)
  res.status(answer.status)
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value)
  if (req.method === 'HEAD') {
    await answer.body.dump()
    return void res.end()
  }
  // Ours and those of a pipeline together are more than Node takes for no leak.
  res.setMaxListeners(20)
  // A client that takes nothing for as long as a part may take gives up its place.
  res.setTimeout(owner.partMs, () => res.destroy())
  // A lost connection has destroyed the answer by then, and there is no one to report it to.
  await pipeline(answer.body, res).catch(() => res.destroy())
}
