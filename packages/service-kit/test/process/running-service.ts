import { Router } from 'express'
import { createApp } from '../../src/http/app'
import { httpServer } from '../../src/http/server'
import { createLogger } from '../../src/observe/logger'
import { run } from '../../src/process/run'
import { service } from '../../src/process/service'

/** Started by run.test.ts as a process of its own: one slow route, and parts that misbehave when asked to. */
const logger = createLogger({ service: 'runner' })
const mode = process.argv[2]
const app = createApp({
  logger,
  routes: Router()
    .get('/quick', (_req, res) => void res.json({ answered: true }))
    .get('/stuck', () => {
      for (;;);
    })
    .get('/slow', (_req, res) => {
      console.log('in flight')
      setTimeout(() => res.json({ answered: true }), 200)
    }),
})
const http = httpServer('http', app, { host: '127.0.0.1', port: 0 })
const misbehaving = {
  name: 'misbehaving',
  start: async () => {
    if (mode === 'fails-to-start') throw new Error('no database')
    if (mode === 'rejects-later') setTimeout(() => void Promise.reject(new Error('not caught')), 50)
  },
  stop: async () => {
    if (mode === 'fails-to-stop') throw new Error('stuck')
  },
}
void run(service('runner', [misbehaving, http]), logger, { lameDuckMs: mode === 'lame-duck' ? 1_500 : 0, stuckAfterS: 2 }).then(() =>
  console.log(`port ${http.port()}`),
)
