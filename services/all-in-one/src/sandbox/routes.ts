import {
  ApiError,
  type Caller,
  caller,
  type ErrorCode,
  errorTable,
  formatUsdc,
  operations,
  parseUsdc,
  pathWith,
  type TestPaymentsBody,
  type TestScenarioList,
  type TestSimulationBody,
} from '@ponte/contracts'
import { type Logger, requireCaller, serve, signCaller } from '@ponte/service-kit'
import { Router } from 'express'
import { z } from 'zod'
import { NotPayable, readCheckout, type SamplePayer } from '../payer/sample-payer'
import { type Scenario, scenarioNamed, scenarios } from '../payer/scenario'
import type { Clock, Movement } from './clock'
import { later } from './duration'

export interface SandboxOptions {
  payer: SamplePayer
  clock: Clock
  gatewayUrl: string
  /** Of the gateway's tokens for the sandbox. */
  tokenSecret: string
  /** Orders, which the sandbox asks on its caller's behalf; known once they have started. */
  orders(): { url: string; tokenSecret: string }
  movement(): Movement
  logger: Logger
}

const problem = z.object({ code: z.enum(Object.keys(errorTable) as ErrorCode[]), detail: z.string() })

/** An answer is sent by then, whether or not the clock has come to rest. */
const ANSWER_MS = 10_000
/** An order that ends so soon is waited for; for a later one the clock is moved. */
const SOON_MS = 5_000

/** Of deployments for tests: payers, networks and the clock, as acts on the chain of a developer's machine. */
export function sandboxRoutes({ payer, clock, gatewayUrl, tokenSecret, orders, movement, logger }: SandboxOptions): Router {
  const router = Router()
  router.use(requireCaller({ secrets: [tokenSecret], audience: 'sandbox', schema: caller }))

  /** Has orders answer on the caller's behalf: they know whose order it is. */
  const askOrders = async (by: Caller, method: 'GET' | 'POST', path: string): Promise<void> => {
    const { url, tokenSecret: secret } = orders()
    const headers = {
      authorization: `Bearer ${signCaller(by, { secrets: [secret], audience: 'orders' })}`,
      'content-type': 'application/json',
    }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })
    if (answer.ok) return void (await answer.arrayBuffer())
    const { code, detail } = problem.parse(await answer.json())
    throw new ApiError(code, detail)
  }
  const own = (by: Caller, id: string) => askOrders(by, 'GET', pathWith(operations.getOrder.path, { id }))
  const moveTo = (moment: Date) => clock.advance(moment, movement())

  serve(router, operations.fundTestAddress, async ({ body }, _req, res) => {
    const units = parseUsdc(body.amount)
    const tx_hash = await payable(logger, () => payer.fund(body.address, units))
    res.json({ object: 'test_funding', address: body.address, amount: formatUsdc(units), tx_hash })
  })

  serve(router, operations.payTestOrder, async ({ params: { id }, body, caller: by }, _req, res) => {
    await own(by, id)
    const { payments } = await payable(logger, () => payer.pay(id, body))
    res.json({ object: 'test_payments', order_id: id, payments } satisfies TestPaymentsBody)
  })

  serve(router, operations.listTestScenarios, (_asked, _req, res) => {
    res.json({ object: 'list', data: scenarios.map(scenarioBody) } satisfies TestScenarioList)
  })

  serve(router, operations.simulateTestOrder, async ({ params: { id }, body: { scenario, seconds }, caller: by }, _req, res) => {
    await own(by, id)
    const { payments, until } = await payable(logger, () =>
      payer.play(id, scenario, {
        seconds,
        cancel: () => askOrders(by, 'POST', pathWith(operations.cancelOrder.path, { id })),
        expire: async order => {
          if (Date.parse(order.expires_at) - clock.now().getTime() > SOON_MS) await moveTo(new Date(Date.parse(order.expires_at) + 1_000))
          await expired(gatewayUrl, id)
        },
      }),
    )
    const answer = { object: 'test_simulation', order_id: id, ...scenarioBody(scenarioNamed(scenario)), payments } as const
    res.json({ ...answer, until: until?.toISOString() ?? null } satisfies TestSimulationBody)
  })

  serve(router, operations.getTestClock, (_asked, _req, res) => {
    res.json(clock.read())
  })

  serve(router, operations.advanceTestClock, async ({ body }, _req, res) => {
    const moved = moveTo(body.to === undefined ? later(clock.now(), body.advance ?? '') : new Date(body.to))
    await payable(logger, () => Promise.race([moved, new Promise(resolve => setTimeout(resolve, ANSWER_MS).unref())]))
    const read = clock.read()
    res.status(read.target === null ? 200 : 202).json(read)
  })
  return router
}

const scenarioBody = ({ name, gives, expects }: Scenario) => ({ scenario: name, description: gives, expects })

/** A chain that stands still, or a node that is slow, is what was asked for, perhaps by another. */
async function payable<T>(logger: Logger, pay: () => Promise<T>): Promise<T> {
  try {
    return await pay()
  } catch (error) {
    if (error instanceof NotPayable) throw new ApiError(error.code, error.message)
    if (error instanceof ApiError) throw error
    logger.warn('the sample payer did not come to its end', { error })
    throw new ApiError(
      'service_unavailable',
      'The test chain did not come to it in time: it may be halted, or its node slow. Look at the order, and ask again.',
    )
  }
}

async function expired(gatewayUrl: string, id: string): Promise<void> {
  const deadline = Date.now() + ANSWER_MS
  while ((await readCheckout(gatewayUrl, id)).status !== 'expired') {
    if (Date.now() > deadline) throw new NotPayable('The order has not expired yet; try again in a moment.')
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
