import { caller } from '@ponte/contracts'
import { createApp, httpServer, requireCaller, silentLogger } from '@ponte/service-kit'
import { type RequestHandler, Router } from 'express'

export interface Heard {
  method: string
  url: string
  headers: Record<string, string | string[] | undefined>
  body: unknown
  caller: unknown
}

/** An owner on a real socket that wants the gateway's token as a real one does, remembers what it was asked, and answers as configured. */
export async function startOwner(name: string, secret: string) {
  const received: Heard[] = []
  const echo: RequestHandler = (req, res) => {
    res.status(req.method === 'POST' ? 201 : 200).json({ owner: name, url: req.originalUrl })
  }
  let answer = echo
  const routes = Router()
  routes.use(requireCaller({ secrets: [secret], audience: name, schema: caller }))
  routes.use((req, res, next) => {
    received.push({ method: req.method, url: req.originalUrl, headers: req.headers, body: req.body, caller: res.locals.caller })
    return answer(req, res, next)
  })
  const http = httpServer(name, createApp({ routes, logger: silentLogger }), { host: '127.0.0.1', port: 0 })
  await http.start?.()
  return {
    name,
    secret,
    url: `http://127.0.0.1:${http.port()}`,
    received,
    /** Answers by this from now on; by default an echo. */
    answers(handler: RequestHandler = echo) {
      answer = handler
    },
    async stop() {
      http.server.closeAllConnections()
      await http.stop?.()
    },
  }
}
