import { attachPayment, exportAttention, handleAttention, listAttention } from '../api/attention'
import { eraseCustomers } from '../api/customer'
import { DOSSIER_ORIGINS_MAX } from '../api/dossier'
import { exportEntries, listEntries } from '../api/entry'
import { explainTransaction } from '../api/explanation'
import { createExport, EXPORT_KEPT_S, EXPORT_ROWS_MAX, EXPORTS_KEPT_MAX, EXPORTS_OPEN_MAX } from '../api/export'
import { judgedNetwork } from '../api/network'
import { acceptOrder, createOrder, updateOrder } from '../api/order'
import { exportOrders, listOrders } from '../api/order-list'
import { summaryQuery } from '../api/summary'
import { askCheckouts, askExplanation } from '../internal-api'
import { byEither, ends, file, internal, owned, priced } from './operation'

const reads = { owner: 'orders', permission: 'orders:read', tag: 'Orders' } as const
const writes = { owner: 'orders', permission: 'orders:write', tag: 'Orders' } as const

export const orders = {
  createOrder: byEither('post', '/orders', {
    ...{ ...writes, alias: 'createMyOrder', keyAlone: true, audit: 'order.create', unrecordedByKey: true, creates: 'getOrder' },
    summary: 'Create an order',
    description: 'Fixes the quote at once; the payer then sends exactly `usdc_amount` with the memo, or follows `payment.checkout_url`.',
    body: createOrder,
    example: {
      ...{
        brl_amount: '150.00',
        external_ref: 'INV-7',
        description: 'Consulting, November',
        metadata: { customer: '42' },
        expires_in: 1800,
      },
    },
    answers: { 201: 'Order' },
    errors: [...priced, 'payout_address_refused'],
  }),
  listOrders: byEither('get', '/orders', {
    ...{ ...reads, alias: 'listMyOrders', keyAlone: true, summary: 'List your orders', query: listOrders, answers: { 200: 'OrderList' } },
  }),
  getOrder: byEither('get', '/orders/:id', {
    ...{ ...reads, alias: 'getMyOrder', summary: 'Get an order with its payments', answers: { 200: 'Order' }, errors: owned },
  }),
  updateOrder: byEither('patch', '/orders/:id', {
    ...{ ...writes, alias: 'updateMyOrder', audit: 'order.update', summary: 'Name the customer or the fiscal document of an order' },
    description:
      'In any state, and as often as you like: each field given takes the place of what was there, and null erases it. Neither is needed to pay, neither changes a sum, and no payer sees them.',
    body: updateOrder,
    example: { fiscal_document: { kind: 'nfe', key: '35261112ABC34501DE35550010000000071123456789' } },
    answers: { 200: 'Order' },
    errors: owned,
  }),
  eraseCustomers: byEither('post', '/customers/erase', {
    ...{ owner: 'api-gateway', permission: 'orders:write', also: ['subscriptions:write'], tag: 'Orders', alias: 'eraseMyCustomers' },
    ...{ login: 'fresh', audit: 'customer.erase', keyed: false, summary: 'Erase a customer from all orders, links and subscriptions' },
    description:
      'By CPF or CNPJ, or by mail address: every order, payment link and subscription of yours whose customer has it forgets its customer, and so does a charge that is under way. Amounts, entries and ' +
      'fiscal documents stay. Sent again it does no harm; after an error, send it again.',
    body: eraseCustomers,
    example: { tax_id: '12345678909' },
    answers: { 200: 'CustomerErasure' },
  }),
  cancelOrder: byEither('post', '/orders/:id/cancel', {
    ...{ ...writes, alias: 'cancelMyOrder', keyAlone: true, audit: 'order.cancel' },
    summary: 'Cancel an order',
    answers: { 200: 'Order' },
    errors: [...owned, 'invalid_state', 'order_has_payments'],
  }),
  acceptOrder: byEither('post', '/orders/:id/accept', {
    ...{ ...writes, ...ends, alias: 'acceptMyOrder', audit: 'order.accept', summary: 'Accept what came as payment in full' },
    description:
      'Of an order that is underpaid, expired or cancelled with confirmed money: it is `paid` from then on, by your word and once, and `order.paid` or ' +
      '`subscription.charged` is published as ever. What is missing is given away. Only a reorganisation of the money that it rests on undoes it. 409 where ' +
      'nothing confirmed came, where a payment that would pay it is still being confirmed, where it is or was paid, and where another order of its period counts instead.',
    body: acceptOrder,
    example: { reason: 'The exchange kept one dollar' },
    answers: { 200: 'Order' },
    errors: [...owned, 'invalid_state'],
  }),
  explainOrder: byEither('post', '/orders/:id/explain', {
    ...{ owner: 'api-gateway', permission: 'orders:read', tag: 'Orders', alias: 'explainMyOrder', keyed: false },
    summary: 'Learn why a transaction did or did not pay an order',
    description:
      'What is on record for the order answers first, and else what enough nodes of the network show of the transaction: one `code` and one sentence. It changes ' +
      'nothing of the order; a confirmed `wrong_token` is listed by `GET /attention`, from where it can be recovered. 503 while the nodes do not answer or do not agree about it yet: ask again in a moment.',
    body: explainTransaction,
    example: { tx_hash: `0x${'5b'.repeat(32)}` },
    answers: { 200: 'Explanation' },
    errors: [...owned, 'invalid_state'],
  }),
  exportOrders: file(
    '/orders.csv',
    { ...reads, alias: 'exportMyOrders', query: exportOrders },
    'orders',
    '`gross` is what was confirmed, `share` what of it is yours; `metadata` is JSON. With `rows=payments` a row per confirmed payment of these orders, `brl_amount` at the quote, and `chain_id` last where several networks are followed. ',
  ),
  getSummary: byEither('get', '/summary', {
    ...{
      ...reads,
      alias: 'getSummary',
      summary: 'Sums of the ledger by day, week or month',
      query: summaryQuery,
      answers: { 200: 'Summary' },
    },
    description:
      'Every figure is a sum of `GET /entries` over the same time: what came, the fee, what reached the payout address, and what waits.',
  }),
  listEntries: byEither('get', '/entries', {
    ...{ ...reads, alias: 'listMyEntries', summary: 'List the movements of your money', query: listEntries, answers: { 200: 'EntryList' } },
    description:
      'The ledger: a row per movement, never changed, counted without gaps. Send `next_cursor` as `after` to pull what is new; with `at_gte` or `at_lt` ' +
      'rows are in order of `at`. When the database was put back to an earlier moment, numbers are given again: a cursor of what is lost is answered 410 ' +
      '`events_reset`. Delete what you have behind `resume_after`, and go on there.',
    errors: ['events_reset'],
  }),
  exportEntries: file(
    '/entries.csv',
    { ...reads, alias: 'exportMyEntries', query: exportEntries },
    'entries',
    '`amount` is negative where an earlier entry is taken back. ',
  ),
  createExport: byEither('post', '/exports', {
    ...{ ...reads, alias: 'createMyExport', audit: 'export.create', summary: 'Have a file of your ledger made', creates: 'getExport' },
    description:
      `In the background, as CSV, XLSX, JSON lines or OFX, of at most ${EXPORT_ROWS_MAX.toLocaleString('en')} entries: what was booked when it is asked for, and nothing later. ` +
      `409 while ${EXPORTS_OPEN_MAX} of yours are being made. The newest ${EXPORTS_KEPT_MAX} are kept for ${EXPORT_KEPT_S / 3600} hours. ` +
      `An origin dossier (\`dossier_json\`, \`dossier_pdf\`) is of an \`amount\` that left your payout address, made up of the newest entries that reached it, or of \`entries\`, and of at most ${DOSSIER_ORIGINS_MAX.toLocaleString('en')}: ` +
      'order, payer, transactions with block hashes and receipt proofs, signed by this installation (`GET /dossier-keys`) and verified by `ponte verify-dossier`. 400 with what there is where that is less; 409 where the installation has no key to sign with.',
    body: createExport,
    example: { format: 'xlsx', form: 'brazilian', at_gte: '2026-01-01T03:00:00.000Z', at_lt: '2027-01-01T03:00:00.000Z' },
    answers: { 201: 'Export' },
    errors: ['invalid_state'],
  }),
  listExports: byEither('get', '/exports', {
    ...{ ...reads, alias: 'listMyExports', summary: 'List the files of your ledger', answers: { 200: 'ExportList' } },
    description: 'Newest first.',
  }),
  getExport: byEither('get', '/exports/:id', {
    ...{ ...reads, alias: 'getMyExport', summary: 'Get the progress of a file', answers: { 200: 'Export' }, errors: ['not_found'] },
    description: 'Ask again every few seconds until it is `ready` or `failed`. 404 once it has expired.',
  }),
  downloadExport: byEither('get', '/exports/:id/file', {
    ...{ ...reads, alias: 'downloadMyExport', summary: 'Download a file of your ledger', errors: ['not_found', 'invalid_state'] },
    description: '409 until it is `ready`. A file that breaks off is not complete; ask again.',
    answers: { 200: 'file' },
  }),
  listDossierKeys: {
    method: 'get',
    path: '/api/v1/dossier-keys',
    credentials: [],
    permission: null,
    owner: 'orders',
    tag: 'Orders',
    summary: 'List the keys that sign origin dossiers',
    description: 'As a JWK Set (RFC 7517) of Ed25519 keys, the one that signs now first. None where the installation gives no dossiers.',
    answers: { 200: 'DossierKeys' },
    cachedS: 300,
  } as const,

  listAttention: byEither('get', '/attention', {
    ...{ ...reads, alias: 'listMyAttention', summary: 'List money that does not simply settle', query: listAttention },
    description:
      'Too little, too much, late, twice, after a cancellation, undone by the network, blocked on its way, to your payout address without an order, or of another token than USDC: ' +
      'what came, the fee, what the order takes, what is left over, and who sent it, as far as that is known.',
    answers: { 200: 'AttentionList' },
  }),
  exportAttention: file(
    '/attention.csv',
    { ...reads, alias: 'exportMyAttention', query: exportAttention },
    'money that does not simply settle',
    '`gross` is what came, `taken` what of it the order takes, `left_over` the rest, less what has gone back. ',
  ),
  handleAttention: byEither('post', '/attention/:id/handle', {
    ...{ ...writes, alias: 'handleMyAttention', audit: 'attention.handle', summary: 'Mark it as handled' },
    description: 'It leaves the list, and comes back with anything new that is known of it. 409 where that is so already.',
    body: handleAttention,
    example: { facts: 'c0ffee00c0ffee00' },
    answers: { 200: 'AttentionItem' },
    errors: [...owned, 'invalid_state'],
  }),
  attachAttention: byEither('post', '/attention/:id/attach', {
    ...{ ...writes, login: 'fresh', alias: 'attachMyAttention', audit: 'attention.attach', summary: 'Count it for an order' },
    description:
      'Of a payment that named no order, or came for its order on a network that this did not offer (`actions` has `attach`): it counts for that order from now on as if it had carried its memo, at the time of its ' +
      'block, and the order becomes what its payments make of it. Only a reorganisation of the payment undoes it; an order offers the network of what it takes from then on. 409 where token, router or payout ' +
      'address are not those of the order, and where the order is or was paid or another order of its period counts instead.',
    body: attachPayment,
    example: { order_id: '0197f3a0-0000-7000-8000-000000000000', reason: 'The customer typed the memo wrong' },
    answers: { 200: 'Order' },
    errors: [...owned, 'invalid_state'],
  }),
  reopenAttention: byEither('post', '/attention/:id/reopen', {
    ...{ ...writes, alias: 'reopenMyAttention', audit: 'attention.reopen', summary: 'Show it again' },
    answers: { 200: 'AttentionItem' },
    errors: owned,
  }),

  getCheckouts: internal('post', '/checkouts', { owner: 'orders', body: askCheckouts }),
  judgeTransaction: internal('post', '/orders/:order_id/explanation', { owner: 'orders', body: askExplanation }),
  eraseOrderCustomers: internal('post', '/order-customers/erase', { owner: 'orders', body: eraseCustomers }),
  judgePayoutAddress: internal('get', '/payout-addresses/:address', { owner: 'orders', query: judgedNetwork }),
}
