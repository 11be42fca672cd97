import { Router } from 'express'
import { z } from 'zod'
import type { DeadLetters, Message } from '../../bus/bus'

const LIST_MAX = 1_000
const named = z.strictObject({ ids: z.array(z.string()).min(1) })
const chosen = z.union([named, z.strictObject({ all: z.literal(true) })])

/** For operators, on the inner port only: the events that a service could not handle, and a way back for them, or out. */
export function deadLetterRoutes(letters: DeadLetters): Router {
  const router = Router()
  router.get('/dead', async (_req, res) => {
    const [count, listed] = [await letters.count(), await letters.list(LIST_MAX)]
    res.json({ count, data: listed.map(({ id, type }) => ({ id, type })) })
  })
  router.get('/dead/:id', async (req, res) => {
    const found = (await letters.list(LIST_MAX)).find(({ id }) => id === req.params.id)
    if (!found) return void res.status(404).json({ detail: `There is no dead letter ${req.params.id} among the first ${LIST_MAX}.` })
    res.json({ id: found.id, type: found.type, event: bodyOf(found) })
  })
  router.post('/dead/retry', async (req, res) => {
    const asked = chosen.safeParse(await readJson(req))
    if (!asked.success) return void res.status(400).json({ detail: 'Name the events with {"ids": [...]}, or {"all": true}.' })
    res.json({ retried: await letters.retry('ids' in asked.data ? asked.data.ids : undefined) })
  })
  router.post('/dead/discard', async (req, res) => {
    const asked = named.safeParse(await readJson(req))
    if (!asked.success) return void res.status(400).json({ detail: 'Name the events with {"ids": [...]}.' })
    res.json({ discarded: await letters.discard(asked.data.ids) })
  })
  return router
}

/** As it came when it is no JSON: that may be why it is here. */
function bodyOf({ body }: Message): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

const BODY_MAX = 1_000_000

async function readJson(request: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_MAX) return undefined
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}
