import { Agent, request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { KEY_SCOPES } from '@ponte/contracts'
import { createRandom } from '@ponte/service-kit/testing'
import { call, createMerchant, openApiValidator, runSystem, system, world } from '../world'
import { type Document, requestMaker, type Sent } from './requests'

// The whole system is asked with values at the edge of every schema of its own OpenAPI document. FUZZ_REQUESTS=50000 is the longer form;
// FUZZ_SEED asks the same again.

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 1_000)
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000)
const CLIENTS = 12

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })

afterAll(() => agent.destroy())
runSystem({ merchant: false })

interface Answer {
  status: number
  headers: Headers
  text: string
}

const send = ({ method, path, headers, body }: Sent) =>
  new Promise<Answer>((resolve, reject) => {
    const { hostname, port } = new URL(system.gatewayUrl)
    const asked = httpRequest(
      { hostname, port, method, path, agent, headers: { ...headers, 'content-length': body?.length ?? 0 } },
      res => {
        const named = Object.entries(res.headers).flatMap<[string, string]>(([name, value]) =>
          typeof value === 'string' ? [[name, value]] : [],
        )
        buffer(res).then(
          bytes => resolve({ status: res.statusCode ?? 0, headers: new Headers(named), text: bytes.toString('utf8') }),
          reject,
        )
      },
    )
    asked.on('error', reject).end(body ?? undefined)
  })

test(
  `${REQUESTS} requests at the edges of the document's schemas: no 5xx, and every answer is documented`,
  async () => {
    const document = (await (await fetch(`${system.gatewayUrl}/openapi.json`)).json()) as Document
    const validate = await openApiValidator(system.gatewayUrl)
    const random = createRandom(SEED)
    const make = requestMaker(document, random)
    const merchant = await createMerchant(world, system.gatewayUrl)
    const { api_key } = await call<{ api_key: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/api-keys', merchant.token, {
      ...{ name: 'all', scopes: KEY_SCOPES },
    })
    const known = { apiKey: api_key, session: merchant.token, ids: [merchant.id] }
    const counts = new Map<string, number>()
    const faults = new Map<string, string>()

    const learn = ({ status, text }: Answer) => {
      if (status >= 300 || !text.startsWith('{')) return
      const body = JSON.parse(text)
      if (typeof body.id === 'string') known.ids = [...known.ids.slice(-60), body.id]
    }
    let left = REQUESTS
    const client = async () => {
      while (left-- > 0) {
        const sent = make(known)
        const answer = await send(sent)
        learn(answer)
        if (left % 1_000 === 0) process.stderr.write(`seed ${SEED}: ${left} left, ${JSON.stringify(Object.fromEntries(counts))}\n`)
        const group = `${Math.floor(answer.status / 100)}xx`
        counts.set(group, (counts.get(group) ?? 0) + 1)
        const wrong =
          answer.status >= 500
            ? [answer.text]
            : validate({ method: sent.method, path: sent.path, status: answer.status, headers: answer.headers, text: answer.text })
        for (const what of wrong) {
          const key = `${sent.operation} ${answer.status}`
          if (!faults.has(key))
            faults.set(key, `${sent.method} ${sent.path} ${sent.body?.toString().slice(0, 400)} -> ${what.slice(0, 400)}`)
        }
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    console.log(`seed ${SEED}: ${JSON.stringify(Object.fromEntries([...counts].sort()))}`)
    expect([...faults].map(([key, fault]) => `${key}: ${fault}`)).toEqual([])
    expect(counts.get('2xx') ?? 0).toBeGreaterThan(REQUESTS / 10)
  },
  60_000 + REQUESTS * 60,
)
