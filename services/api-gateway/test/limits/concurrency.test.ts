import { randomUUID } from 'node:crypto'
import { until } from '@ponte/service-kit'
import type { Response } from 'express'
import request from 'supertest'
import { bearer, newMerchant, runGateway, system } from '../world'

const held: Response[] = []
type Merchant = Awaited<ReturnType<typeof newMerchant>>

runGateway({ MERCHANT_READS_MAX: '3', MERCHANT_WRITES_MAX: '2', MERCHANT_WAITING_MAX: '4', OWNER_TIMEOUT_MS: '60000' })
beforeAll(() => {
  system.owners.orders.answers((_req, res) => void held.push(res))
})
afterEach(() => {
  // Their number alone: a response is too large for a message.
  expect(held.splice(0).length).toBe(0)
})

const list = (key: string) => request(system.url).get('/api/v1/orders').set(bearer(key))
const send = (asked: request.Test) => asked.then(answer => answer)
const holds = (count: number) =>
  until(
    () => held.length === count,
    () => `the owner holds ${held.length} requests, not ${count}`,
  )
/** Requests of this merchant that reached the owner so far. */
const atOwner = ({ merchant: { id } }: Merchant) =>
  system.owners.orders.received.filter(({ caller }) => Object(caller).terms?.merchant_id === id).length
const answerOne = () => held.shift()?.json({})
async function answerAll(answers: Promise<{ status: number }>[]) {
  let done = false
  const statuses = Promise.all(answers).then(all => {
    done = true
    return all.map(({ status }) => status)
  })
  await until(() => {
    answerOne()
    return done
  }, 'not every request was answered')
  return statuses
}

test('one merchant has a few reads at the owner at once; the others wait, and are served in turn', async () => {
  const { apiKey } = await newMerchant(system)
  const answers = Array.from({ length: 7 }, () => send(list(apiKey)))
  await holds(3)
  answerOne()
  await holds(3)
  expect(await answerAll(answers)).toEqual(Array(7).fill(200))
})

test('a neighbour does not wait for them, and neither do the same merchant`s writes', async () => {
  const noisy = await newMerchant(system)
  const neighbour = await newMerchant(system)
  const answers = Array.from({ length: 7 }, () => send(list(noisy.apiKey)))
  await holds(3)
  answers.push(send(list(neighbour.apiKey)))
  await holds(4)
  answers.push(send(request(system.url).post('/api/v1/orders').set(bearer(noisy.apiKey)).send({})))
  await holds(5)
  expect(await answerAll(answers)).toEqual(Array(9).fill(200))
})

test('while others ask, a merchant that asks for much at once is served one read at a time', async () => {
  const noisy = await newMerchant(system)
  const neighbour = await newMerchant(system)
  const answers = Array.from({ length: 7 }, () => send(list(noisy.apiKey)))
  await holds(3)
  const served = held.splice(0)
  const beside = [send(list(neighbour.apiKey))]
  await holds(1)
  for (const res of served) res.json({})
  await until(() => atOwner(noisy) === 4, 'the next one is not served')
  // Two more of the neighbour go the whole way, one after the other.
  for (const count of [2, 3]) {
    beside.push(send(list(neighbour.apiKey)))
    await until(() => atOwner(neighbour) === count, 'the neighbour waits')
  }
  expect(atOwner(noisy)).toBe(4)
  expect(await answerAll([...answers, ...beside])).toEqual(Array(10).fill(200))
})

test('payers count as others who ask', async () => {
  const noisy = await newMerchant(system)
  const checkout = () => send(request(system.url).get(`/api/v1/checkout/${randomUUID()}`))
  const answers = Array.from({ length: 7 }, () => send(list(noisy.apiKey)))
  await holds(3)
  const served = held.splice(0)
  const payers = [checkout()]
  await holds(1)
  for (const res of served) res.json({})
  await until(() => atOwner(noisy) === 4, 'the next one is not served')
  payers.push(checkout())
  await until(() => held.length >= 3, 'the payer waits')
  expect(atOwner(noisy)).toBe(4)
  expect(await answerAll([...answers, ...payers])).toEqual(Array(9).fill(200))
})

test.each(['events?after=0&wait=20', 'orders.csv', 'Orders.CSV/'])(
  'reads that wait for an event, and files, leave the merchant its other reads: %s',
  async path => {
    const { apiKey } = await newMerchant(system)
    system.owners.webhooks.answers((_req, res) => void held.push(res))
    const waits = Array.from({ length: 3 }, () => send(request(system.url).get(`/api/v1/${path}`).set(bearer(apiKey))))
    await holds(3)
    waits.push(send(list(apiKey)))
    await holds(4)
    expect(await answerAll(waits)).toEqual(Array(4).fill(200))
    system.owners.webhooks.answers()
  },
)

test('forty reads that wait for an event wait at once, each as long as it asked', async () => {
  const { apiKey } = await newMerchant(system)
  system.owners.webhooks.answers((_req, res) => void held.push(res))
  const waits = Array.from({ length: 40 }, () => send(request(system.url).get('/api/v1/events?after=0&wait=6').set(bearer(apiKey))))
  await holds(40)
  expect(await answerAll(waits)).toEqual(Array(40).fill(200))
  system.owners.webhooks.answers()
})

test('by session it is the same bound', async () => {
  const { apiKey, token } = await newMerchant(system)
  const answers = Array.from({ length: 3 }, () => send(list(apiKey)))
  await holds(3)
  answers.push(send(request(system.url).get('/api/v1/merchants/me/orders').set(bearer(token))))
  answers.push(send(request(system.url).get('/api/v1/merchants/me').set(bearer(token))))
  expect((await answers[4])?.status).toBe(200)
  expect(held.length).toBe(3)
  expect(await answerAll(answers)).toEqual(Array(5).fill(200))
})

test('what would wait behind too many is refused with 429 and Retry-After', async () => {
  const { apiKey } = await newMerchant(system)
  const settled: request.Response[] = []
  const answers = Array.from({ length: 12 }, async () => {
    const answer = await list(apiKey)
    settled.push(answer)
    return answer
  })
  await until(() => settled.length === 5, 'five of twelve were not refused')
  expect(settled.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(Array(5).fill([429, '1']))
  expect((await answerAll(answers)).filter(status => status === 200)).toHaveLength(7)
})

test('a client that goes away gives its turn to the next one once the owner has answered', async () => {
  const { apiKey } = await newMerchant(system)
  const gone = Array.from({ length: 3 }, () => new AbortController())
  const aborted = gone.map(({ signal }) => fetch(`${system.url}/api/v1/orders`, { headers: bearer(apiKey), signal }).catch(() => null))
  await holds(3)
  for (const controller of gone) controller.abort()
  await Promise.all(aborted)
  const answers = [send(list(apiKey))]
  // A neighbour's goes the whole way meanwhile.
  answers.push(send(list((await newMerchant(system)).apiKey)))
  await holds(4)
  held.pop()?.json({})
  expect((await answers[1])?.status).toBe(200)
  expect(held.length).toBe(3)
  expect(await answerAll(answers)).toEqual([200, 200])
})

test('a request that waits keeps its own request id', async () => {
  const { apiKey } = await newMerchant(system)
  const answers = Array.from({ length: 6 }, (_, n) => send(list(apiKey).set('X-Request-Id', `request-000${n}`)))
  await holds(3)
  await answerAll(answers)
  expect((await Promise.all(answers)).map(({ headers }) => headers['x-request-id'])).toEqual([0, 1, 2, 3, 4, 5].map(n => `request-000${n}`))
})
