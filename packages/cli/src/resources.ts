import type { Command } from 'commander'
import { fields, type Output, table } from './output'
import { type ProfileFile, UsageError } from './profile'
import { accountClient, merchantClient } from './session'

export interface ResourceContext {
  profile: ProfileFile
  output(): Output
}

type Row = Record<string, unknown>
interface Listed extends AsyncIterable<{ id: string }> {}

interface Verb {
  name: string
  description: string
  run(id: string): Promise<unknown>
}

interface Resource {
  name: string
  description: string
  columns: readonly string[]
  list(query: Record<string, string>): Listed | Promise<readonly object[]>
  verbs: readonly Verb[]
}

const LIST_MAX = 20

/** `orders`, `subscriptions`, `events`, `deliveries`, `endpoints`: thin over the SDK. */
export function addResources(program: Command, { profile, output }: ResourceContext): void {
  for (const resource of resources(profile)) {
    const command = program.command(resource.name).description(resource.description)
    command
      .command('list')
      .description('newest first')
      .option('-n, --limit <count>', 'how many', String(LIST_MAX))
      .option('-f, --filter <name=value...>', 'as the query parameters of the API, such as status=paid')
      .action(async ({ limit, filter = [] }: { limit: string; filter?: string[] }) => {
        const rows = await take(resource.list(queryOf(filter)), Number(limit))
        const cells = rows.map(row => resource.columns.map(column => String(row[column] ?? '')))
        output().show(rows, table([[...resource.columns], ...cells]))
      })
    for (const { name, description, run } of resource.verbs) {
      command
        .command(`${name} <id>`)
        .description(description)
        .action(async (id: string) => {
          const found = await run(id)
          output().show(found, fields(Object(found)))
        })
    }
    if (resource.name === 'orders') {
      addCreate(command, { profile, output })
      addAccept(command, { profile, output })
    }
  }
}

function addCreate(command: Command, { profile, output }: ResourceContext): void {
  command
    .command('create <brl_amount>')
    .description('an invoice of so many reais, such as 150.00')
    .option('--ref <external_ref>', 'your own reference; also the Idempotency-Key, so that the same reference is one order')
    .option('--expires-in <seconds>', '10 to 604800')
    .action(async (brl_amount: string, options: { ref?: string; expiresIn?: string }) => {
      const { ref, expiresIn } = options
      const body = { brl_amount, ...(ref ? { external_ref: ref } : {}), ...(expiresIn ? { expires_in: Number(expiresIn) } : {}) }
      const order = await merchantClient(profile).orders.create(
        body,
        ref && /^[\x21-\x7e]{1,255}$/.test(ref) ? { idempotencyKey: ref } : {},
      )
      output().show(order, `${order.id}  R$ ${order.brl_amount} = ${order.usdc_amount} USDC\n${order.payment.checkout_url}`)
    })
}

function addAccept(command: Command, { profile, output }: ResourceContext): void {
  command
    .command('accept <id>')
    .description('accept what came for an order as payment in full')
    .requiredOption('--reason <text>', 'why, for your own records')
    .action(async (id: string, { reason }: { reason: string }) => {
      const order = await merchantClient(profile).orders.accept(id, { reason })
      output().show(order, fields(order))
    })
}

function resources(profile: ProfileFile): Resource[] {
  const api = () => merchantClient(profile)
  const account = () => accountClient(profile).merchant
  return [
    {
      ...{ name: 'orders', description: 'one-shot invoices' },
      columns: ['id', 'status', 'exception', 'brl_amount', 'usdc_amount', 'external_ref', 'created_at'],
      list: query => api().orders.list(query),
      verbs: [
        { name: 'get', description: 'one order with its payments', run: id => api().orders.get(id) },
        { name: 'cancel', description: 'cancel an order', run: id => api().orders.cancel(id) },
      ],
    },
    {
      ...{ name: 'subscriptions', description: 'recurring charges' },
      columns: ['id', 'status', 'brl_amount', 'interval', 'charges_done', 'external_ref', 'created_at'],
      list: query => api().subscriptions.list(query),
      verbs: [
        { name: 'get', description: 'one subscription', run: id => api().subscriptions.get(id) },
        { name: 'charge', description: 'issue the next order, or get the open one', run: id => api().subscriptions.charge(id) },
        { name: 'cancel', description: 'cancel a subscription and its open order', run: id => api().subscriptions.cancel(id) },
      ],
    },
    {
      ...{ name: 'events', description: 'what webhooks send, kept for 30 days' },
      columns: ['sequence', 'type', 'id', 'created_at'],
      list: query => api().events.list(query),
      verbs: [{ name: 'get', description: 'one event', run: id => api().events.get(id) }],
    },
    {
      ...{ name: 'deliveries', description: 'events on their way to endpoints (with a login, or a named key that has the scope)' },
      columns: ['id', 'event_type', 'status', 'attempts', 'last_http_status', 'last_error_code', 'created_at'],
      list: query => account().deliveries.list(query),
      verbs: [
        { name: 'get', description: 'one delivery with its attempts', run: id => account().deliveries.get(id) },
        { name: 'replay', description: 'deliver an event again', run: id => account().deliveries.replay(id) },
      ],
    },
    {
      ...{ name: 'endpoints', description: 'where webhooks go (with a login, or a named key that has the scope)' },
      columns: ['id', 'url', 'format', 'paused'],
      list: () => account().endpoints.list(),
      verbs: [
        { name: 'get', description: 'one endpoint', run: id => account().endpoints.get(id) },
        { name: 'test', description: 'send endpoint.test to it', run: id => account().endpoints.test(id) },
      ],
    },
  ]
}

function queryOf(filters: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    filters.map(filter => {
      const at = filter.indexOf('=')
      if (at < 1) throw new UsageError(`A filter is name=value; ${filter} is not.`)
      return [filter.slice(0, at), filter.slice(at + 1)]
    }),
  )
}

async function take(list: Listed | Promise<readonly object[]>, count: number): Promise<Row[]> {
  if (!Number.isInteger(count) || count < 1) throw new UsageError('--limit is a whole number above zero.')
  const rows: Row[] = []
  const items = Symbol.asyncIterator in list ? list : await list
  for await (const row of items) {
    rows.push({ ...row })
    if (rows.length === count) break
  }
  return rows
}
