import type {
  AdvanceTestClock,
  FundTestAddress,
  PayTestOrder,
  SimulateTestOrder,
  TestClock,
  TestFunding,
  TestPayments,
  TestScenarioList,
  TestSimulation,
} from '../schemas.js'
import type { RequestOptions, Transport, WriteOptions } from '../transport.js'
import { callOperation } from './call.js'

/** Of deployments for tests alone: payers, networks and time. Where money is real each of these is `not_found`. */
export interface Testing {
  /** Gives an address USDC of the test chain. */
  fund(body: FundTestAddress, options?: WriteOptions): Promise<TestFunding>
  /** Pays an order as a sample payer; what is due, by a plain transfer, unless the body has other wishes. */
  pay(orderId: string, body?: Partial<PayTestOrder>, options?: WriteOptions): Promise<TestPayments>
  /** Lists what can be simulated, with the events to expect. */
  scenarios(options?: RequestOptions): Promise<TestScenarioList>
  /** Has something go wrong with an order, by transactions of the chain. */
  simulate(orderId: string, body: SimulateTestOrder, options?: WriteOptions): Promise<TestSimulation>
  /** Reads the clock of the deployment. */
  clock(options?: RequestOptions): Promise<TestClock>
  /** Moves the clock forward, for everyone; resolves when it has come there and nothing is left to be done. */
  advance(body: AdvanceTestClock, options?: WriteOptions): Promise<TestClock>
}

const LOOK_MS = 250

export const createTesting = (send: Transport): Testing => {
  const clock = (options?: RequestOptions): Promise<TestClock> => callOperation(send, 'getTestClock', { ...options })
  return {
    fund: (body, options) => callOperation(send, 'fundTestAddress', { body, ...options }),
    pay: (id, body = {}, options) => callOperation(send, 'payTestOrder', { params: { id }, body, ...options }),
    scenarios: options => callOperation(send, 'listTestScenarios', { ...options }),
    simulate: (id, body, options) => callOperation(send, 'simulateTestOrder', { params: { id }, body, ...options }),
    clock,
    async advance(body, options) {
      let read: TestClock = await callOperation(send, 'advanceTestClock', { body, ...options })
      while (read.target !== null) {
        await new Promise(resolve => setTimeout(resolve, LOOK_MS))
        read = await clock(options?.signal ? { signal: options.signal } : {})
      }
      return read
    },
  }
}
