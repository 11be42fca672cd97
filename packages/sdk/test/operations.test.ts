import { type Operation, operationList } from '@ponte/contracts'
import { Ponte } from '../src/index.js'

const ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'

/** Every method of the client that sends something, by its name. */
function methodsOf(resource: object, path: string[] = []): [string, (...args: unknown[]) => unknown][] {
  return Object.entries(resource).flatMap(([name, value]): [string, (...args: unknown[]) => unknown][] => {
    if (typeof value === 'function') return [[[...path, name].join('.'), value]]
    return typeof value === 'object' && value !== null ? methodsOf(value, [...path, name]) : []
  })
}

/** Arguments where an id and a body are not what the method takes. */
const ARGUMENTS: Readonly<Record<string, unknown[]>> = {
  'orders.eraseCustomers': [{}],
  'subscriptions.accept': [ID, 1],
  'events.follow': [{ after: 0, waitS: 0 }],
  'entries.follow': [{ after: 0, onReset: () => undefined }],
}
const IN_FRONT_OF_ID =
  /^(?:[\w.]+\.)?(?:list|all|export|dossierKeys|summary|create|fund|scenarios|clock|advance|replayAll)$|^merchant\.get$/
const argumentsOf = (name: string) => {
  if (ARGUMENTS[name]) return ARGUMENTS[name]
  const takesOrder = /^refunds\.(create|list)$/.test(name)
  return IN_FRONT_OF_ID.test(name) && !takesOrder ? [{}] : [ID, {}]
}

/** Calls each method once against a `fetch` that answers 404, and returns what was asked for, by the method. */
async function record(credential: string): Promise<Map<string, string>> {
  let asked = ''
  const ponte = new Ponte(credential, {
    baseUrl: 'https://pay.example.com',
    maxRetries: 0,
    async fetch(url, { method }) {
      asked = `${method} ${new URL(url).pathname}`
      const problem = { code: 'not_found', detail: '', status: 404, request_id: '' }
      return { status: 404, headers: { get: () => null }, text: async () => JSON.stringify(problem) }
    },
  })
  const calls = new Map<string, string>()
  for (const [name, method] of methodsOf(ponte)) {
    asked = ''
    const answer = method(...argumentsOf(name))
    const first = isGenerator(answer) ? answer.next() : answer
    await Promise.resolve(first).catch(() => undefined)
    calls.set(name, asked)
  }
  return calls
}

const isGenerator = (answer: unknown): answer is AsyncGenerator =>
  typeof answer === 'object' && answer !== null && 'next' in answer && 'return' in answer

const filled = ({ method, path }: Operation) =>
  `${method.toUpperCase()} ${path.replace(/:(\w+)/g, (_, name) => (name === 'period_index' ? '1' : ID))}`
const table = new Map(operationList.map(([id, operation]) => [filled(operation), id]))
const idsOf = (calls: Map<string, string>) => [...calls].map(([name, asked]) => [name, table.get(asked)] as const)

const forKeys = operationList.filter(([, { credentials }]) => credentials.includes('api_key')).map(([id]) => id as string)

test('every operation that takes a key has its method, and every method sends an operation', async () => {
  const reached = idsOf(await record(`sk_test_${'0'.repeat(64)}`))
  expect(reached.filter(([, id]) => id === undefined)).toEqual([])
  const ids = new Set(reached.map(([, id]) => id as string))
  expect(forKeys.filter(id => !ids.has(id))).toEqual([])
  // Open to anyone.
  expect([...ids].filter(id => !forKeys.includes(id)).sort()).toEqual(['listCheckpoints', 'listDossierKeys', 'listNetworks'])
})

test('a session token reads its merchant at the address that takes one', async () => {
  expect((await record('header.payload.signature')).get('merchant.get')).toBe('GET /api/v1/merchants/me')
})

describe('a file', () => {
  const answering = (status: number, type: string, text: string) =>
    new Ponte('sk', {
      baseUrl: 'https://pay.example.com',
      maxRetries: 0,
      fetch: async (_, { headers }) => ({
        status,
        headers: { get: name => ({ 'content-type': type, accept: headers.Accept ?? '' })[name] ?? null },
        text: async () => text,
      }),
    })

  test('is its text', async () => {
    await expect(answering(200, 'text/csv; charset=utf-8', 'id\r\n1\r\n').orders.export()).resolves.toBe('id\r\n1\r\n')
  })

  test('is refused as anything else is', async () => {
    const problem = JSON.stringify({ code: 'forbidden', detail: 'no', request_id: 'r' })
    await expect(answering(403, 'application/problem+json', problem).orders.export()).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('is no page of something in between', async () => {
    await expect(answering(200, 'text/html', '<p>log in</p>').orders.export()).rejects.toMatchObject({ code: 'unexpected_answer' })
  })
})
