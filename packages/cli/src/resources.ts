import { createHash } from 'node:crypto'
import type { CreateExport, Ponte } from '@ponte/sdk'
import type { Command } from 'commander'
import { fields, type Output, table } from './output'
import { type ProfileFile, UsageError } from './profile'
import { accountClient, merchantClient } from './session'

export interface ResourceContext {
  profile: ProfileFile
  output(): Output
  /** Writes a file to the standard output as it is. */
  print(file: string | Uint8Array): void
}

type Row = Record<string, unknown>
interface Listed extends AsyncIterable<object> {}

interface Verb {
  name: string
  description: string
  run(id: string): Promise<unknown>
}

interface Resource {
  name: string
  description: string
  columns?: readonly string[]
  list?(query: Record<string, string>): Listed | Promise<readonly object[]>
  verbs: readonly Verb[]
  export?(query: Record<string, string>): Promise<string>
}

const LIST_MAX = 20

/** Lists, exports and single resources: thin over the SDK. */
export function addResources(program: Command, { profile, output, print }: ResourceContext): void {
  for (const resource of resources(profile)) {
    const command = program.command(resource.name).description(resource.description)
    const { list, columns = [] } = resource
    if (list) {
      command
        .command('list')
        .description('newest first, unless the description names another order')
        .option('-n, --limit <count>', 'how many', String(LIST_MAX))
        .option('-f, --filter <name=value...>', 'as the query parameters of the API, such as status=paid')
        .action(async ({ limit, filter = [] }: { limit: string; filter?: string[] }) => {
          const rows = await take(list(queryOf(filter)), Number(limit))
          const cells = rows.map(row => columns.map(column => String(row[column] ?? '')))
          output().show(rows, table([[...columns], ...cells]))
        })
    }
    for (const { name, description, run } of resource.verbs) {
      command
        .command(`${name} <id>`)
        .description(description)
        .action(async (id: string) => {
          const found = await run(id)
          output().show(found, fields(Object(found)))
        })
    }
    const exportCsv = resource.export
    if (exportCsv) {
      command
        .command('export')
        .description('all of it as CSV')
        .option('-f, --filter <name=value...>', 'as the query parameters of the API')
        .action(async ({ filter = [] }: { filter?: string[] }) => print(await exportCsv(queryOf(filter))))
    }
    if (resource.name === 'exports') addExport(command, { profile, output, print })
    if (resource.name === 'links') addLink(command, { profile, output })
    if (resource.name === 'orders') {
      addCreate(command, { profile, output })
      addAccept(command, { profile, output })
      addExplain(command, { profile, output })
    }
  }
}

function addExport(command: Command, { profile, output, print }: ResourceContext): void {
  command
    .command('create <format>')
    .description('have a file of the ledger made: csv, xlsx, jsonl, ofx, dossier_json or dossier_pdf')
    .option(
      '-f, --filter <name=value...>',
      'as the fields of the API, such as form=brazilian or at_gte=2026-01-01T03:00:00.000Z; of a dossier amount=250.00 or entries=12,15',
    )
    .action(async (format: string, { filter = [] }: { filter?: string[] }) => {
      const { entries, chain_id, ...query } = queryOf(filter)
      const named = {
        ...(entries === undefined ? {} : { entries: entries.split(',').map(Number) }),
        ...(chain_id === undefined ? {} : { chain_id: Number(chain_id) }),
      }
      const made = await merchantClient(profile).exports.create(Object.assign(query, named, { format: format as Format }))
      output().show(made, fields(made))
    })
  command
    .command('file <id>')
    .description('write the file to the standard output, once it is ready')
    .action(async (id: string) => print(await merchantClient(profile).exports.file(id)))
}
type Format = CreateExport['format']

type OfOrders = Omit<ResourceContext, 'print'>

function addLink(command: Command, { profile, output }: OfOrders): void {
  command
    .command('create <brl_amount> <description>')
    .description('a page that asks for so many reais, quoted when a payer opens it')
    .option('--ref <external_ref>', 'your own reference')
    .option('--due <time>', 'when it is due, such as 2026-12-01T03:00:00.000Z')
    .option('--reusable', 'for any number of payers')
    .action(async (brl_amount: string, description: string, options: { ref?: string; due?: string; reusable?: true }) => {
      const { ref: external_ref = null, due: due_at = null, reusable } = options
      const kind = reusable ? 'reusable' : 'invoice'
      const link = await merchantClient(profile).links.create({ kind, brl_amount, description, external_ref, due_at })
      output().show(link, `${link.id}  R$ ${link.brl_amount}\n${link.url}`)
    })
}

/** A key has printable ASCII alone. */
const keyOf = (ref: string): string => (/^[\x21-\x7e]{1,255}$/.test(ref) ? ref : createHash('sha256').update(ref).digest('hex'))

function addCreate(command: Command, { profile, output }: OfOrders): void {
  command
    .command('create <brl_amount>')
    .description('an invoice of so many reais, such as 150.00')
    .option('--ref <external_ref>', 'your own reference; also the Idempotency-Key, so that the same reference is one order')
    .option('--expires-in <seconds>', '10 to 604800')
    .action(async (brl_amount: string, options: { ref?: string; expiresIn?: string }) => {
      const { ref, expiresIn } = options
      const body = { brl_amount, ...(ref ? { external_ref: ref } : {}), ...(expiresIn ? { expires_in: Number(expiresIn) } : {}) }
      const order = await merchantClient(profile).orders.create(body, ref ? { idempotencyKey: keyOf(ref) } : {})
      output().show(order, `${order.id}  R$ ${order.brl_amount} = ${order.usdc_amount} USDC\n${order.payment.checkout_url}`)
    })
}

function addAccept(command: Command, { profile, output }: OfOrders): void {
  command
    .command('accept <id>')
    .description('accept what came for an order as payment in full')
    .requiredOption('--reason <text>', 'why, for your own records')
    .action(async (id: string, { reason }: { reason: string }) => {
      const order = await merchantClient(profile).orders.accept(id, { reason })
      output().show(order, fields(order))
    })
}

function addExplain(command: Command, { profile, output }: OfOrders): void {
  command
    .command('explain <id> <tx_hash>')
    .description('why a transaction did or did not pay an order')
    .action(async (id: string, tx_hash: string) => {
      const explanation = await merchantClient(profile).orders.explain(id, { tx_hash })
      output().show(explanation, fields(explanation))
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
        { name: 'refunds', description: 'the refunds of an order, and what may still go back', run: id => api().refunds.list(id) },
        { name: 'recoveries', description: "what was recovered from an order's deposit address", run: id => api().orders.recoveries(id) },
      ],
      export: query => api().orders.export(query),
    },
    {
      ...{ name: 'links', description: 'pages on which payers open orders' },
      columns: ['id', 'status', 'kind', 'brl_amount', 'orders_paid', 'external_ref', 'created_at'],
      list: query => api().links.list(query),
      verbs: [
        { name: 'get', description: 'one link', run: id => api().links.get(id) },
        { name: 'end', description: 'end a link: it opens no order any more', run: id => api().links.end(id) },
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
      export: query => api().subscriptions.export(query),
    },
    {
      ...{ name: 'attention', description: 'money that does not simply settle' },
      columns: ['id', 'reasons', 'created_at'],
      list: query => api().attention.list(query),
      verbs: [{ name: 'reopen', description: 'show a handled item again', run: id => api().attention.reopen(id) }],
      export: query => api().attention.export(query),
    },
    {
      ...{ name: 'refund', description: 'money that goes back; ponte orders refunds ORDER lists those of an order' },
      verbs: [
        { name: 'get', description: 'one refund, with what a wallet has to sign', run: id => api().refunds.get(id) },
        { name: 'cancel', description: 'cancel a refund that cannot move money any more', run: id => api().refunds.cancel(id) },
        { name: 'get-claim', description: "a payer's link for the address", run: id => api().refunds.getClaim(id) },
        { name: 'cancel-claim', description: 'end such a link', run: id => api().refunds.cancelClaim(id) },
      ],
    },
    {
      ...{ name: 'entries', description: 'the ledger, oldest first' },
      columns: ['sequence', 'kind', 'amount', 'order_id', 'at'],
      list: query => allEntries(api(), query),
      verbs: [],
      export: query => api().entries.export(query),
    },
    {
      ...{ name: 'exports', description: 'files of the ledger, made in the background' },
      columns: ['id', 'status', 'format', 'rows', 'rows_total', 'created_at'],
      list: async () => (await api().exports.list()).data,
      verbs: [{ name: 'get', description: 'how far a file is', run: id => api().exports.get(id) }],
    },
    {
      ...{ name: 'changes', description: 'who changed what of the account' },
      columns: ['id', 'action', 'outcome', 'user_id', 'target', 'created_at'],
      list: query => account().audit.list(query),
      verbs: [],
      export: query => account().audit.export(query),
    },
    {
      ...{ name: 'checkpoints', description: 'hashes over what was booked of the chain, oldest first' },
      columns: ['to_block', 'hash'],
      list: query => api().chain.checkpoints.all(query),
      verbs: [],
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
      export: query => account().deliveries.export(query),
    },
    {
      ...{ name: 'endpoints', description: 'where webhooks go (with a login, or a named key that has the scope)' },
      columns: ['id', 'url', 'format', 'paused'],
      list: () => account().endpoints.list(),
      verbs: [
        { name: 'get', description: 'one endpoint', run: id => account().endpoints.get(id) },
        { name: 'test', description: 'send endpoint.test to it', run: id => account().endpoints.test(id) },
        { name: 'rotate-secret', description: 'a new secret for it, which is shown', run: id => account().endpoints.rotateSecret(id) },
        { name: 'activate-secret', description: 'put the new secret in force', run: id => account().endpoints.activateSecret(id) },
        { name: 'delete', description: 'delete it; what waits for it is not delivered', run: id => account().endpoints.delete(id) },
      ],
    },
  ]
}

async function* allEntries(ponte: Ponte, query: Record<string, string>) {
  for (let after = query.after; ; ) {
    const page = await ponte.entries.list(after === undefined ? query : { ...query, after })
    yield* page.data
    if (!page.has_more) return
    after = page.next_cursor
  }
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
