import { type Environment, type ServiceName, serviceNames, startProcesses } from '@ponte/all-in-one'
import type { OrderBody } from '@ponte/contracts'
import { mined, startFaultProxy } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { testBroker } from '@ponte/service-kit/testing'
import { openLedger } from '../../torture/ledger'
import { call, createMerchant, PAYER, startWorld, units } from '../../world'

const WAIT_MS = 60_000
const UNLIMITED = { RATE_LIMIT_CALLER_PER_MINUTE: '1000000', RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000' }
const watched = (name: ServiceName): Environment => ({ LOG_LEVEL: 'info', LAME_DUCK_MS: '0', ...(name === 'api-gateway' ? UNLIMITED : {}) })

/** Five processes that look at their books and contracts each second, as an operator meets them: by ops ports, logs, settings and SQL. */
export async function startInstallation(changed: Partial<Record<ServiceName, Environment>> = {}) {
  const world = await startWorld({ amqp: testBroker() })
  const node = await startFaultProxy(world.chain.rpcUrl)
  const settings = Object.fromEntries(serviceNames.map(name => [name, { ...watched(name), ...changed[name] }])) as Record<
    ServiceName,
    Environment
  >
  Object.assign(settings['chain-listener'], { RPC_URLS: node.url, RECONCILE_EVERY_S: '1', MONITOR_EVERY_S: '1' })
  Object.assign(settings.orders, { RECONCILE_EVERY_S: '1' })
  const processes = await startProcesses(world.place, settings)
  const ledger = openLedger(world.place.databaseUrl)
  const gatewayUrl = world.place.publicUrl
  const merchant = await createMerchant(world, gatewayUrl)

  const ops = async (service: ServiceName, path: string) => {
    const answer = await fetch(`${processes.opsUrl(service)}${path}`)
    if (!answer.ok) throw new Error(`${path} of ${service} answered ${answer.status}.`)
    return answer
  }
  /** The sum of its series that have these labels. */
  const metric = async (service: ServiceName, name: string, labels: Environment = {}) => {
    const lines = [...(await (await ops(service, '/metrics')).text()).matchAll(new RegExp(`^${name}(?:\\{([^}]*)\\})? (\\S+)$`, 'gm'))]
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    return lines.filter(([, found = '']) => wanted.every(text => found.includes(text))).reduce((sum, [, , value]) => sum + Number(value), 0)
  }
  const order = (more: object = {}) =>
    call<OrderBody>(gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '150.00', ...more })
  const read = ({ id }: OrderBody) => call<OrderBody>(gatewayUrl, 'GET', `/api/v1/orders/${id}`, merchant.api_key)
  return {
    world,
    node,
    processes,
    ledger,
    gatewayUrl,
    merchant,
    metric,
    order,
    read,
    json: async <T>(service: ServiceName, path: string) => (await (await ops(service, path)).json()) as T,
    becomes: (service: ServiceName, name: string, holds: (value: number) => boolean, labels: Environment = {}) =>
      until(
        async () => holds(await metric(service, name, labels)),
        async () => `${name} is ${await metric(service, name, labels)}`,
        WAIT_MS,
      ),
    logs: (service: ServiceName, message: string) =>
      until(
        () => processes.output(service).includes(message),
        () => `${service} did not log "${message}":\n${processes.output(service).slice(-3_000)}`,
        WAIT_MS,
      ),
    paid: (one: OrderBody) =>
      until(
        async () => (await read(one)).status === 'paid',
        async () => JSON.stringify(await read(one)),
        WAIT_MS,
      ),
    /** Sent to the deposit address of the order, in full. */
    async deposit(one: OrderBody) {
      const payer = world.chain.wallet(PAYER.privateKey)
      await mined(world.chain.mintUsdc(payer.address, units(one.usdc_amount)))
      return mined(world.chain.transferUsdc(payer, one.payment.deposit_address ?? '', units(one.usdc_amount)))
    },
    /** Sets what is named, and restarts the service as its section says. */
    async change(service: ServiceName, env: Environment) {
      Object.assign(settings[service], env)
      const code = await processes.end(service, 'SIGTERM')
      if (code !== 0) throw new Error(`${service} ended with ${code}.`)
      await processes.start(service)
    },
    settings,
    async stop() {
      await ledger.stop()
      await processes.stop()
      await node.stop()
      await world.stop()
    },
  }
}
export type Installation = Awaited<ReturnType<typeof startInstallation>>
