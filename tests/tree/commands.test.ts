import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createProgram } from '@ponte/cli'
import { operationList } from '@ponte/contracts'

const ID = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'
const TX = `0x${'5b'.repeat(32)}`

/** A command line for each operation that it asks for at last. */
const COMMANDS: Readonly<Record<string, string>> = {
  createOrder: 'orders create 150.00',
  listOrders: 'orders list',
  getOrder: `orders get ${ID}`,
  cancelOrder: `orders cancel ${ID}`,
  acceptOrder: `orders accept ${ID} --reason late`,
  explainOrder: `orders explain ${ID} ${TX}`,
  exportOrders: 'orders export -f status=paid',
  listRefunds: `orders refunds ${ID}`,
  listRecoveries: `orders recoveries ${ID}`,
  getRefund: `refund get ${ID}`,
  cancelRefund: `refund cancel ${ID}`,
  getRefundClaim: `refund get-claim ${ID}`,
  cancelRefundClaim: `refund cancel-claim ${ID}`,
  listEntries: 'entries list',
  exportEntries: 'entries export',
  createLink: 'links create 150.00 Consulting --ref INV-7',
  listLinks: 'links list',
  getLink: `links get ${ID}`,
  endLink: `links end ${ID}`,
  createExport: 'exports create xlsx -f form=brazilian',
  listExports: 'exports list',
  getExport: `exports get ${ID}`,
  downloadExport: `exports file ${ID}`,
  listAttention: 'attention list',
  exportAttention: 'attention export',
  reopenAttention: `attention reopen ${ID}`,
  listSubscriptions: 'subscriptions list',
  getSubscription: `subscriptions get ${ID}`,
  chargeSubscription: `subscriptions charge ${ID}`,
  cancelSubscription: `subscriptions cancel ${ID}`,
  exportSubscriptions: 'subscriptions export',
  listEvents: 'events list',
  getEvent: `events get ${ID}`,
  listDeliveries: 'deliveries list',
  exportDeliveries: 'deliveries export',
  getDelivery: `deliveries get ${ID}`,
  replayDelivery: `deliveries replay ${ID}`,
  getMerchantOfKey: 'merchant',
  listAudit: 'changes list',
  exportAudit: 'changes export',
  listWebhookEndpoints: 'endpoints list',
  getWebhookEndpoint: `endpoints get ${ID}`,
  deleteWebhookEndpoint: `endpoints delete ${ID}`,
  rotateEndpointSecret: `endpoints rotate-secret ${ID}`,
  activateEndpointSecret: `endpoints activate-secret ${ID}`,
  testWebhookEndpoint: `endpoints test ${ID}`,
  listTestScenarios: 'simulate',
  getTestClock: 'clock',
  advanceTestClock: 'clock P1M',
}

const A_PROGRAM_DECIDES = 'its body is decided by a program or at the dashboard'
const IN_A_COMMAND = 'part of a command that asks for other things first'
const WITHOUT: Readonly<Record<string, string>> = {
  updateOrder: A_PROGRAM_DECIDES,
  eraseCustomers: A_PROGRAM_DECIDES,
  createSubscription: A_PROGRAM_DECIDES,
  updateSubscription: A_PROGRAM_DECIDES,
  acceptCharge: A_PROGRAM_DECIDES,
  handleAttention: A_PROGRAM_DECIDES,
  attachAttention: A_PROGRAM_DECIDES,
  createRefund: A_PROGRAM_DECIDES,
  signRefund: 'the signature of a wallet, which no terminal holds',
  createRefundClaim: A_PROGRAM_DECIDES,
  createRecovery: A_PROGRAM_DECIDES,
  createWebhookEndpoint: A_PROGRAM_DECIDES,
  updateWebhookEndpoint: A_PROGRAM_DECIDES,
  replayDeliveries: A_PROGRAM_DECIDES,
  getSummary: 'figures for a page or a book; the export has the rows',
  fundTestAddress: 'a payer of one’s own, which is a program',
  payTestOrder: IN_A_COMMAND,
  simulateTestOrder: IN_A_COMMAND,
}

const forKeys = operationList.filter(([, { credentials }]) => credentials.includes('api_key'))

test('every operation that takes a key is a command, or there is a reason', () => {
  const named = [...Object.keys(COMMANDS), ...Object.keys(WITHOUT)]
  expect(named.sort()).toEqual(forKeys.map(([id]) => id as string).sort())
})

describe('with nothing but a named key', () => {
  let folder: string
  const real = globalThis.fetch
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ponte-commands-'))
  })
  afterEach(() => {
    globalThis.fetch = real
    rmSync(folder, { recursive: true, force: true })
  })

  test.each(Object.entries(COMMANDS))('%s is asked for by: ponte %s', async (id, line) => {
    const asked: string[] = []
    globalThis.fetch = async (url, init) => {
      asked.push(`${init?.method} ${new URL(String(url)).pathname}`)
      return Response.json({ code: 'not_due', detail: 'refused', request_id: 'r' }, { status: 409 })
    }
    const sink = { write: () => true } as unknown as NodeJS.WriteStream
    const program = createProgram({
      env: { PONTE_API_KEY: `sk_test_${'0'.repeat(64)}`, PONTE_URL: 'https://pay.example.com', PONTE_CONFIG_DIR: folder },
      ...{ home: folder, cwd: folder, stdout: sink, stderr: sink, signal: new AbortController().signal },
      askSecret: async () => '',
      onLine: () => undefined,
    })
    await expect(program.parseAsync(['node', 'ponte', ...line.split(' ')])).rejects.toThrow('refused')
    const [, operation] = forKeys.find(([each]) => each === id) ?? []
    expect(asked.at(-1)).toBe(`${operation?.method.toUpperCase()} ${operation?.path.replace(/:\w+/g, ID)}`)
  })
})
