import type { Request, Response } from 'express'

const message = JSON.stringify({ message: 'Ponte is online' })
const DEFAULT = 'application/vnd.api+json'

/** Specification, Liveness: the declared default type, or plain JSON on request. */
export function ping(req: Request, res: Response): void {
  const type = req.accepts([DEFAULT, 'application/json']) || DEFAULT
  // JSON:API allows no charset parameter, so the header is set as it is.
  res.setHeader('Content-Type', type)
  res.setHeader('Vary', 'Accept')
  res.end(message)
}
