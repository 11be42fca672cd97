// Written by tests/tree/sdk-reference.mjs from the docstrings of packages/sdk; `npm run sdk-reference` writes it again.
import type { ReferenceDoor } from '../sdk-reference-page'

export const sdkReference: readonly ReferenceDoor[] = [
  {
    "door": "@ponte/sdk",
    "exports": [
      {
        "name": "List",
        "text": "A list: `await` gives its first page, `for await` all its items, page by page. Nothing is asked before either; `limit` is the size of a page.\n\n```ts\nconst { data } = await ponte.orders.list({ status: 'paid' })\nfor await (const order of ponte.orders.list()) console.log(order.id)\n```",
        "kind": "class",
        "members": [
          {
            "signature": "constructor(ask: (query: PageQuery, options: RequestOptions) => Promise<Answer<Item>>, query: PageQuery = {}, options: RequestOptions = {})",
            "text": ""
          },
          {
            "signature": "then<Result = Page<Item>, Failure = never>(fulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null, rejected?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null): Promise<Result | Failure>",
            "text": "Makes the list awaitable: its first page."
          },
          {
            "signature": "for await(): AsyncGenerator<Item, void, undefined>",
            "text": "All items. With `ending_before` it goes towards newer ones, oldest first."
          }
        ]
      },
      {
        "name": "Ponte",
        "text": "A client of the Ponte API, for servers: the key must not reach a browser.\n\n```ts\nconst ponte = new Ponte(apiKey, { baseUrl: 'https://pay.example.com' })\nconst order = await ponte.orders.create({ brl_amount: '150.00', external_ref: 'INV-7' }, { idempotencyKey: 'INV-7' })\n```",
        "kind": "class",
        "members": [
          {
            "signature": "readonly orders: Orders",
            "text": "One-shot invoices."
          },
          {
            "signature": "readonly links: Links",
            "text": "Pages on which payers open orders."
          },
          {
            "signature": "readonly refunds: Refunds",
            "text": "Money that goes back from your wallet."
          },
          {
            "signature": "readonly attention: Attention",
            "text": ""
          },
          {
            "signature": "readonly subscriptions: Subscriptions",
            "text": "Recurring charges."
          },
          {
            "signature": "readonly events: Events",
            "text": "The events that webhooks send."
          },
          {
            "signature": "readonly entries: Entries",
            "text": "The ledger of your money."
          },
          {
            "signature": "readonly exports: Exports",
            "text": "Files of the ledger, made in the background."
          },
          {
            "signature": "readonly testing: Testing",
            "text": "Payers, networks and time of a deployment for tests."
          },
          {
            "signature": "readonly chain: Chain",
            "text": "Checkpoints of what was booked of the chain."
          },
          {
            "signature": "readonly merchant: MerchantResource",
            "text": "The account: endpoints, deliveries and who changed what; with a key that has the scope, or a session token."
          },
          {
            "signature": "constructor(credential: Credential | undefined, options: PonteOptions)",
            "text": ""
          }
        ]
      },
      {
        "name": "PonteError",
        "text": "The one error of this package. `code` names the case, `detail` is a sentence on what to do.\n\n```ts\ncatch (error) {\n  if (isPonteError(error, 'not_due')) return 'charged already'\n  throw error\n}\n```",
        "kind": "class",
        "members": [
          {
            "signature": "readonly name = 'PonteError'",
            "text": ""
          },
          {
            "signature": "readonly code: Code",
            "text": "The case, for programs."
          },
          {
            "signature": "readonly detail: string",
            "text": "Advice for people."
          },
          {
            "signature": "readonly status: number",
            "text": "HTTP status; 0 when there was no answer."
          },
          {
            "signature": "readonly requestId: string | null",
            "text": "Names the request in our logs; quote it."
          },
          {
            "signature": "readonly errors: readonly FieldError[]",
            "text": "Each field at fault, of `invalid_request`; else empty."
          },
          {
            "signature": "readonly idempotencyKey: string | null",
            "text": "The key of the request that failed: send it again with this key, and it takes effect once."
          },
          {
            "signature": "readonly retryAfterMs: number | null",
            "text": "Wait that the API asks for."
          },
          {
            "signature": "readonly resumeAfter: string | null",
            "text": "Where to go on, of `events_reset`: the cursor of an event."
          },
          {
            "signature": "constructor(init: PonteErrorInit & { code: Code })",
            "text": ""
          },
          {
            "signature": "isCode<Wanted extends ApiErrorCode | ClientErrorCode>(code: Wanted): this is PonteError<Wanted>",
            "text": "Whether it is this case; narrows `code`."
          }
        ]
      },
      {
        "name": "checkPayout",
        "text": "Throws `address_mismatch` when money that is paid for an order could go elsewhere than to your payout address: the order names another payout address, router,\ntoken or chain, or a deposit address that does not follow from them. Then send nobody to its checkout.",
        "kind": "function",
        "signature": "function checkPayout(order: Pick<Order, 'id' | 'memo' | 'payment'>, payout: Payout): void",
        "members": []
      },
      {
        "name": "dedupeKey",
        "text": "The key of an event: `type`, `data.id`, and the transaction or the period where there is one. The same event again has the same key;\nkeep the keys that you have handled. The transaction alone is not enough, because one may pay two orders. Two `subscription.resumed` of one\nsubscription, or `refund.failed` of one refund, have the same key; the format of Standard Webhooks has an id for each, and the pull a `sequence`.",
        "kind": "function",
        "signature": "function dedupeKey(event: { type: string; data: unknown }): string",
        "members": []
      },
      {
        "name": "depositAddress",
        "text": "The deposit address of an order, in lower case: CREATE2 of the router, with keccak256(memo, payout address) as its salt. A token transfer to it can reach\nthat payout address and no other. Throws `invalid_argument` on a memo or an address that is none.",
        "kind": "function",
        "signature": "function depositAddress({ router, memo, payoutAddress }: DepositTerms): string",
        "members": []
      },
      {
        "name": "inOrder",
        "text": "Handlers that see every event in order and without gaps, in any order of deliveries: a webhook announces that there are events, and they are\npulled. It is answered 2xx once everything up to now is handled; a handler that throws is where the next webhook begins. In one process they run one after\nanother; with several, lock the row of the cursor from `load` to `save`.\n\n```ts\nwebhookHandler({ secret, on: inOrder({ events: ponte.events, cursor, on: { 'order.paid': data => ship(data.external_ref) } }) })\n```",
        "kind": "function",
        "signature": "function inOrder({ events, cursor, on }: InOrderOptions): EventHandlers",
        "members": []
      },
      {
        "name": "isPonteError",
        "text": "Whether something caught is a `PonteError`, of this case when one is named. Also of another copy of this package.",
        "kind": "function",
        "signature": "function isPonteError<Wanted extends ApiErrorCode | ClientErrorCode>(error: unknown, code: Wanted): error is PonteError<Wanted>",
        "members": []
      },
      {
        "name": "signTestWebhook",
        "text": "Body and headers of a webhook, signed as the service signs, for your own tests. A string is signed as it is.\n\n```ts\nconst { body, headers } = await signTestWebhook({ type: 'order.expired', data: { id, external_ref: null } }, secret)\nawait request(app).post('/webhooks').set(headers).send(body).expect(200)\n```",
        "kind": "function",
        "signature": "function signTestWebhook(event: { type: string; data: unknown } | string, secret: string, options: SignOptions = {}): Promise<SignedWebhook>",
        "members": []
      },
      {
        "name": "verifyStandardWebhook",
        "text": "Checks a delivery in the format of Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature` over the raw body.\n\nThrows a `PonteError`: `invalid_signature` and `timestamp_out_of_range` (answer 401), `raw_body_required`, `malformed_event`.",
        "kind": "function",
        "signature": "function verifyStandardWebhook(rawBody: RawBody, headers: HeadersLike, secret: string | readonly string[], { toleranceS = TOLERANCE_S, now = new Date() }: StandardOptions = {}): Promise<StandardWebhook>",
        "members": []
      },
      {
        "name": "verifyWebhook",
        "text": "Checks `X-Service-Signature` over the raw body in constant time and gives the event. While a secret is being rotated, give the old and the new one.\n\nThrows a `PonteError`: `invalid_signature` (answer 401), `raw_body_required`, `malformed_event`.\n\n```ts\nconst event = await verifyWebhook(await request.text(), request.headers.get('x-service-signature'), secret)\nif (event.type === 'order.paid') await ship(event.data.external_ref)\n```",
        "kind": "function",
        "signature": "function verifyWebhook(rawBody: RawBody, signature: string | null | undefined, secret: string | readonly string[]): Promise<WebhookEvent>",
        "members": []
      },
      {
        "name": "Attention",
        "text": "Money that does not simply settle: of an order, or to your payout address without an order.",
        "kind": "interface",
        "members": [
          {
            "signature": "list(query?: ListAttention, options?: RequestOptions): List<AttentionItem>",
            "text": "Lists what needs attention, newest first."
          },
          {
            "signature": "handle(id: string, body: HandleAttention, options?: WriteOptions): Promise<AttentionItem>",
            "text": "Marks an item as handled, with its `facts` as you saw them; something new brings it back."
          },
          {
            "signature": "reopen(id: string, options?: WriteOptions): Promise<AttentionItem>",
            "text": "Shows a handled item again."
          },
          {
            "signature": "attach(id: string, body: AttachPayment, options?: WriteOptions): Promise<Order>",
            "text": "Counts a payment that named no order for this one."
          },
          {
            "signature": "export(query?: ExportAttention, options?: RequestOptions): Promise<string>",
            "text": "All pages of the list as CSV."
          }
        ]
      },
      {
        "name": "Audit",
        "text": "Changes of the account, each with its author.",
        "kind": "interface",
        "members": [
          {
            "signature": "list(query?: ListAudit, options?: RequestOptions): List<AuditEntry>",
            "text": "Lists changes, newest first."
          },
          {
            "signature": "export(query?: ExportAudit, options?: RequestOptions): Promise<string>",
            "text": "All pages of the list as CSV."
          }
        ]
      },
      {
        "name": "Chain",
        "text": "Booked facts of the chain, to be checked against a node.",
        "kind": "interface",
        "members": [
          {
            "signature": "readonly checkpoints: Checkpoints",
            "text": ""
          }
        ]
      },
      {
        "name": "Checkpoints",
        "text": "Hashes over what was booked of the chain, one for every 1,000 confirmed blocks.",
        "kind": "interface",
        "members": [
          {
            "signature": "list(query?: ListCheckpoints, options?: RequestOptions): Promise<CheckpointPage>",
            "text": "One page, oldest first; `next_after` is the `after` of the next one."
          },
          {
            "signature": "all(query?: ListCheckpoints, options?: RequestOptions): AsyncGenerator<Checkpoint, void, undefined>",
            "text": "All of them behind a block, page by page."
          }
        ]
      },
      {
        "name": "Deliveries",
        "text": "Events on their way to endpoints.",
        "kind": "interface",
        "members": [
          {
            "signature": "list(query?: ListDeliveries, options?: RequestOptions): List<Delivery>",
            "text": "Lists deliveries, newest first."
          },
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<DeliveryDetail>",
            "text": "Reads a delivery with its attempts."
          },
          {
            "signature": "replay(id: string, options?: WriteOptions): Promise<Delivery>",
            "text": "Delivers an event again."
          },
          {
            "signature": "replayAll(body: ReplayDeliveries, options?: WriteOptions): Promise<Replayed>",
            "text": "Delivers the events of a time range again; while `has_more`, ask again from `next_created_gte`."
          },
          {
            "signature": "export(query?: ExportDeliveries, options?: RequestOptions): Promise<string>",
            "text": "All pages of the list as CSV."
          }
        ]
      },
      {
        "name": "DepositTerms",
        "text": "What a deposit address is made of.",
        "kind": "interface",
        "members": [
          {
            "signature": "router: string",
            "text": "The payment router of the chain: 0x and 40 hex."
          },
          {
            "signature": "memo: string",
            "text": "Of the order: 64 hex, with or without 0x."
          },
          {
            "signature": "payoutAddress: string",
            "text": "Where the money goes: 0x and 40 hex."
          }
        ]
      },
      {
        "name": "Endpoints",
        "text": "Webhook endpoints beside the `webhook_url`.",
        "kind": "interface",
        "members": [
          {
            "signature": "list(options?: RequestOptions): Promise<WebhookEndpoint[]>",
            "text": "All of them, the `webhook_url` first, with how each is doing."
          },
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<WebhookEndpoint>",
            "text": "Reads an endpoint."
          },
          {
            "signature": "create(body: CreateWebhookEndpoint, options?: WriteOptions): Promise<WebhookEndpoint>",
            "text": "Adds an endpoint."
          },
          {
            "signature": "update(id: string, body: UpdateWebhookEndpoint, options?: RequestOptions): Promise<WebhookEndpoint>",
            "text": "Changes, pauses or resumes an endpoint."
          },
          {
            "signature": "delete(id: string, options?: RequestOptions): Promise<{ id: string }>",
            "text": "Deletes an endpoint; what waits for it ends as dead."
          },
          {
            "signature": "test(id: string, options?: WriteOptions): Promise<Delivery>",
            "text": "Sends `endpoint.test` to this endpoint alone."
          },
          {
            "signature": "rotateSecret(id: string, options?: WriteOptions): Promise<WebhookEndpoint>",
            "text": "Makes a new secret, which the answer shows."
          },
          {
            "signature": "activateSecret(id: string, options?: WriteOptions): Promise<WebhookEndpoint>",
            "text": "Puts the new secret in force, and the old one out of it."
          }
        ]
      },
      {
        "name": "Entries",
        "text": "The ledger: a row per movement of your money, never changed, counted without gaps.",
        "kind": "interface",
        "members": [
          {
            "signature": "list(query?: ListEntries, options?: RequestOptions): Promise<EntryPage>",
            "text": "One page, oldest first; `next_cursor` is the `after` of the next one."
          },
          {
            "signature": "follow(options: FollowEntriesOptions): AsyncGenerator<Entry, void, undefined>",
            "text": "Every entry after a cursor, in order and without gaps, and then each one as it is booked. Goes on over lost connections and restarts of the service until its\nsignal ends it. Keep the `cursor` of what you have booked, and begin there next time.\n\n```ts\nconst onReset = (resumeAfter: string) => ledger.deleteBehind(Number.parseInt(resumeAfter, 10))\nfor await (const entry of ponte.entries.follow({ after: await ledger.cursor(), onReset })) await ledger.book(entry)\n```"
          },
          {
            "signature": "summary(query: SummaryQuery, options?: RequestOptions): Promise<Summary>",
            "text": "Sums by day, week or month; every figure is a sum of entries."
          },
          {
            "signature": "export(query?: ExportEntries, options?: RequestOptions): Promise<string>",
            "text": "All pages of the list as CSV."
          }
        ]
      },
      {
        "name": "Events",
        "text": "The events that webhooks send, to be pulled instead; kept for 30 days.",
        "kind": "interface",
        "members": [
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<StoredEvent>",
            "text": "Reads an event."
          },
          {
            "signature": "list(query?: ListEvents, options?: RequestOptions): List<StoredEvent>",
            "text": "Lists your events, newest first."
          },
          {
            "signature": "follow(options: FollowOptions): AsyncGenerator<StoredEvent, void, undefined>",
            "text": "Every event after a sequence, in order and without gaps, and then each one as it comes. Goes on over lost connections and restarts of the\nservice until its signal ends it. Keep the `cursor` of what you have handled, and begin there next time: also when the events were put back to an\nearlier moment meanwhile, it goes on where their history is the one that you have.\n\n```ts\nfor await (const event of ponte.events.follow({ after: await load() })) {\n  await handle(event)\n  await save(event.cursor)\n}\n```"
          }
        ]
      },
      {
        "name": "Exports",
        "text": "Files of your ledger, made in the background: CSV, XLSX, JSON lines, OFX or an origin dossier.",
        "kind": "interface",
        "members": [
          {
            "signature": "create(body: CreateExport, options?: WriteOptions): Promise<Export>",
            "text": "Has a file made of what is booked now. Ask for it with `get` every few seconds until it is `ready` or `failed`."
          },
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<Export>",
            "text": "The progress of a file."
          },
          {
            "signature": "list(options?: RequestOptions): Promise<ExportList>",
            "text": "Your files, newest first."
          },
          {
            "signature": "file(id: string, options?: RequestOptions): Promise<Uint8Array>",
            "text": "The file itself, once it is `ready`; one that breaks off is an error. A file of many megabytes is better read from `file_url`, in parts."
          },
          {
            "signature": "dossierKeys(options?: RequestOptions): Promise<DossierKeys>",
            "text": "Public keys that this installation signs dossiers with, as a JWK Set."
          }
        ]
      },
      {
        "name": "FetchAnswer",
        "text": "The used part of a `Response`.",
        "kind": "interface",
        "members": [
          {
            "signature": "status: number",
            "text": ""
          },
          {
            "signature": "headers: { get(name: string): string | null }",
            "text": ""
          },
          {
            "signature": "text(): Promise<string>",
            "text": ""
          },
          {
            "signature": "arrayBuffer?(): Promise<ArrayBuffer>",
            "text": "Used for files that are no text."
          }
        ]
      },
      {
        "name": "FetchInit",
        "text": "The second argument of `fetch`.",
        "kind": "interface",
        "members": [
          {
            "signature": "method: string",
            "text": ""
          },
          {
            "signature": "headers: Record<string, string>",
            "text": ""
          },
          {
            "signature": "body?: string",
            "text": ""
          },
          {
            "signature": "signal: AbortSignal",
            "text": ""
          },
          {
            "signature": "redirect: 'manual'",
            "text": ""
          }
        ]
      },
      {
        "name": "FieldError",
        "text": "One field of a request that was refused.",
        "kind": "interface",
        "members": [
          {
            "signature": "path: string",
            "text": "Where in the body or query."
          },
          {
            "signature": "message: string",
            "text": "The fault, for people."
          }
        ]
      },
      {
        "name": "FollowEntriesOptions",
        "text": "Where following begins, and what happens when the entries were put back.",
        "kind": "interface",
        "members": [
          {
            "signature": "after: string | number",
            "text": "The `cursor` of the last entry that you have booked; 0 for all."
          },
          {
            "signature": "onReset(resumeAfter: string): void | Promise<void>",
            "text": "Called when the entries were put back to an earlier moment, with the cursor of the last one that stands: delete what you booked behind its sequence, because that\nis booked anew under the same numbers. It goes on behind it once this is done."
          },
          {
            "signature": "limit?: number",
            "text": "Entries in one answer, 1 to 100."
          },
          {
            "signature": "everyMs?: number",
            "text": "Milliseconds until it looks again when there was nothing new."
          },
          {
            "signature": "onRetry?(error: PonteError, delayMs: number): void",
            "text": "Called when a request failed and is sent again."
          }
        ]
      },
      {
        "name": "FollowOptions",
        "text": "Where following begins, and which kinds of event it gives.",
        "kind": "interface",
        "members": [
          {
            "signature": "after: string | number",
            "text": "The `cursor` of the last event that you have handled; 0 for all that are kept, `'now'` for those to come. Its `sequence` does too, but does not show that events were\nnumbered again."
          },
          {
            "signature": "types?: readonly string[]",
            "text": "Only these kinds."
          },
          {
            "signature": "limit?: number",
            "text": "Events in one answer, 1 to 100."
          },
          {
            "signature": "includeBody?: boolean",
            "text": "Adds `body` to each event: what webhooks send, byte for byte."
          },
          {
            "signature": "waitS?: number",
            "text": "Seconds that one request waits for an event, 0 to 20."
          },
          {
            "signature": "onRetry?(error: PonteError, delayMs: number): void",
            "text": "Called when a request failed and is sent again."
          },
          {
            "signature": "onReset?(error: PonteError): void",
            "text": "Called when the events were put back to an earlier moment. It goes on where their history is still the one that you have; some events may come again."
          }
        ]
      },
      {
        "name": "InOrderOptions",
        "text": "The events to read, the place to go on from, and functions by kind.",
        "kind": "interface",
        "members": [
          {
            "signature": "events: Pick<Events, 'list' | 'follow'>",
            "text": "`ponte.events`; its key needs `events:read`."
          },
          {
            "signature": "cursor: KeptCursor",
            "text": ""
          },
          {
            "signature": "on: EventHandlers",
            "text": ""
          }
        ]
      },
      {
        "name": "KeptCursor",
        "text": "Where the `cursor` of the last event that was handled is kept: a row of your database, best written with what the handler did.",
        "kind": "interface",
        "members": [
          {
            "signature": "load(): string | null | Promise<string | null>",
            "text": "Null at first: then every event that is kept comes."
          },
          {
            "signature": "save(cursor: string): unknown",
            "text": ""
          }
        ]
      },
      {
        "name": "Links",
        "text": "Payment links: pages on which payers open orders, quoted at that moment.",
        "kind": "interface",
        "members": [
          {
            "signature": "create(body: CreateLink, options?: WriteOptions): Promise<Link>",
            "text": "Makes a link over an amount in BRL, or bounds between which the payer chooses. Send `url` to the payer."
          },
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<Link>",
            "text": "Reads a link and what became of its orders."
          },
          {
            "signature": "end(id: string, options?: WriteOptions): Promise<Link>",
            "text": "Ends a link: it opens no order any more."
          },
          {
            "signature": "list(query?: ListLinks, options?: RequestOptions): List<Link>",
            "text": "Lists your links, newest first."
          }
        ]
      },
      {
        "name": "MerchantResource",
        "text": "The account: with a key that has the scope of each, or with a session token.",
        "kind": "interface",
        "members": [
          {
            "signature": "get(options?: RequestOptions): Promise<Merchant>",
            "text": "Reads the merchant of the key or of the session's user."
          },
          {
            "signature": "readonly endpoints: Endpoints",
            "text": ""
          },
          {
            "signature": "readonly deliveries: Deliveries",
            "text": ""
          },
          {
            "signature": "readonly audit: Audit",
            "text": ""
          }
        ]
      },
      {
        "name": "NewerWebhookEvent",
        "text": "An event of a kind that came later. Its `type` is a string that is none of the known ones; `never`, so that a comparison narrows to those.",
        "kind": "interface",
        "members": [
          {
            "signature": "type: never",
            "text": ""
          },
          {
            "signature": "data: unknown",
            "text": ""
          }
        ]
      },
      {
        "name": "Orders",
        "text": "One-shot invoices.",
        "kind": "interface",
        "members": [
          {
            "signature": "create(body: CreateOrder, options?: WriteOptions): Promise<Order>",
            "text": "Creates an order and fixes its quote. Send the payer to `payment.checkout_url`."
          },
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<Order>",
            "text": "Reads an order with its payments."
          },
          {
            "signature": "update(id: string, body: UpdateOrder, options?: RequestOptions): Promise<Order>",
            "text": "Names the customer or the fiscal document of an order, in any state; null erases it."
          },
          {
            "signature": "eraseCustomers(body: EraseCustomers, options?: RequestOptions): Promise<CustomerErasure>",
            "text": "Erases a customer from all your orders, payment links and subscriptions, by CPF, CNPJ or mail address."
          },
          {
            "signature": "cancel(id: string, options?: WriteOptions): Promise<Order>",
            "text": "Cancels an order that has received nothing."
          },
          {
            "signature": "accept(id: string, body: AcceptOrder, options?: WriteOptions): Promise<Order>",
            "text": "Accepts what came for an order as payment in full, once: it was too little, late, or came after its cancellation."
          },
          {
            "signature": "explain(id: string, body: ExplainOrder, options?: RequestOptions): Promise<Explanation>",
            "text": "Explains why a transaction did or did not pay an order: one code and one sentence. It changes nothing of the order."
          },
          {
            "signature": "recover(id: string, body: CreateRecovery, options?: WriteOptions): Promise<Recovery>",
            "text": "Recovers a token that is not USDC from the order's deposit address to its payout address, which `destination` has to be. Explain the transaction that sent it first."
          },
          {
            "signature": "recoveries(id: string, options?: RequestOptions): Promise<RecoveryList>",
            "text": "Lists what was recovered from the order's deposit address: the latest of each token."
          },
          {
            "signature": "list(query?: ListOrders, options?: RequestOptions): List<Order>",
            "text": "Lists your orders, newest first."
          },
          {
            "signature": "export(query?: ExportOrders, options?: RequestOptions): Promise<string>",
            "text": "All pages of the list as CSV."
          }
        ]
      },
      {
        "name": "Page",
        "text": "One page of a list.",
        "kind": "interface",
        "members": [
          {
            "signature": "data: Item[]",
            "text": "In the list's order."
          },
          {
            "signature": "has_more: boolean",
            "text": "Whether there is a further one."
          },
          {
            "signature": "next(): Promise<Page<Item> | null>",
            "text": "The further one; null at the end."
          }
        ]
      },
      {
        "name": "Payout",
        "text": "Where your money goes, from your own configuration and never from an answer of the API.",
        "kind": "interface",
        "members": [
          {
            "signature": "address: string",
            "text": "Your payout address."
          },
          {
            "signature": "router: string",
            "text": "The payment router that you have checked, as the operator publishes it."
          },
          {
            "signature": "token?: string",
            "text": "USDC's contract, and the id of its chain; each is compared where it is given."
          },
          {
            "signature": "chainId?: number",
            "text": ""
          }
        ]
      },
      {
        "name": "PonteErrorInit",
        "text": "Fields of a new `PonteError`; `detail` and `status` as the API sent them.",
        "kind": "interface",
        "members": [
          {
            "signature": "code: PonteErrorCode",
            "text": ""
          },
          {
            "signature": "detail: string",
            "text": ""
          },
          {
            "signature": "status?: number",
            "text": ""
          },
          {
            "signature": "requestId?: string | null",
            "text": ""
          },
          {
            "signature": "errors?: readonly FieldError[]",
            "text": ""
          },
          {
            "signature": "idempotencyKey?: string | null",
            "text": ""
          },
          {
            "signature": "retryAfterMs?: number | null",
            "text": ""
          },
          {
            "signature": "resumeAfter?: string | null",
            "text": ""
          },
          {
            "signature": "cause?: unknown",
            "text": ""
          }
        ]
      },
      {
        "name": "PonteOptions",
        "text": "Options of a client: the address of the API, time limits, repeats and the `fetch` to use.",
        "kind": "interface",
        "members": [
          {
            "signature": "baseUrl: string",
            "text": "Where the API is, without `/api/v1`."
          },
          {
            "signature": "timeoutMs?: number",
            "text": "Longest time of one attempt; 10,000 by default."
          },
          {
            "signature": "maxRetries?: number",
            "text": "Most repeats of a request; 2 by default, 0 for never."
          },
          {
            "signature": "fetch?: Fetch",
            "text": "Another `fetch`, for example one with a proxy."
          },
          {
            "signature": "payout?: Payout",
            "text": "Where your money goes. Every order that is created or read is held against it: one that could pay elsewhere is an error, `address_mismatch`."
          },
          {
            "signature": "allowHttp?: boolean",
            "text": "Allows http:// to another machine, where the key can be read on the way."
          }
        ]
      },
      {
        "name": "Refunds",
        "text": "Money that goes back from your wallet.",
        "kind": "interface",
        "members": [
          {
            "signature": "create(orderId: string, body: CreateRefund, options?: WriteOptions): Promise<Refund>",
            "text": "Asks for a refund of an order: an amount, the surplus, or all that may still go back. Sign `typed_data` with your wallet."
          },
          {
            "signature": "list(orderId: string, options?: RequestOptions): Promise<RefundList>",
            "text": "Lists the refunds of an order, with what may still go back."
          },
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<Refund>",
            "text": "Reads a refund with what your wallet has to sign."
          },
          {
            "signature": "sign(id: string, body: SignRefund, options?: WriteOptions): Promise<Refund>",
            "text": "Brings the signature of your wallet; from then on the money may move at any moment."
          },
          {
            "signature": "cancel(id: string, options?: WriteOptions): Promise<Refund>",
            "text": "Cancels a refund for which nothing that was signed may still move the money."
          },
          {
            "signature": "createClaim(orderId: string, body: CreateRefundClaim, options?: WriteOptions): Promise<RefundClaim>",
            "text": "Makes a link by which the payer names the address that money goes back to. Send its `url` to the payer alone. With `email`, they also need a code that\nis mailed there."
          },
          {
            "signature": "getClaim(id: string, options?: RequestOptions): Promise<RefundClaim>",
            "text": "Reads a claim, with its link while that takes an address."
          },
          {
            "signature": "cancelClaim(id: string, options?: WriteOptions): Promise<RefundClaim>",
            "text": "Ends the link of a claim that has taken no address."
          }
        ]
      },
      {
        "name": "RequestOptions",
        "text": "Set for a single call.",
        "kind": "interface",
        "members": [
          {
            "signature": "signal?: AbortSignal",
            "text": "Ends the call, also while it waits to try again."
          }
        ]
      },
      {
        "name": "SignedWebhook",
        "text": "A request as the service sends it.",
        "kind": "interface",
        "members": [
          {
            "signature": "body: string",
            "text": ""
          },
          {
            "signature": "headers: Record<string, string>",
            "text": ""
          }
        ]
      },
      {
        "name": "SignOptions",
        "text": "Options of a test webhook: its format, time and id.",
        "kind": "interface",
        "members": [
          {
            "signature": "format?: 'ponte' | 'standard'",
            "text": "`ponte` by default, as your `webhook_url` gets it; `standard` adds the headers of Standard Webhooks."
          },
          {
            "signature": "id?: string",
            "text": "`webhook-id`; a random one by default."
          },
          {
            "signature": "at?: Date",
            "text": "Time of the attempt; now by default."
          },
          {
            "signature": "sequence?: number",
            "text": "`webhook-sequence`."
          }
        ]
      },
      {
        "name": "StandardOptions",
        "text": "Options of the check, with defaults of the Standard Webhooks specification.",
        "kind": "interface",
        "members": [
          {
            "signature": "toleranceS?: number",
            "text": "Oldest or earliest time of an attempt; 300 seconds by default."
          },
          {
            "signature": "now?: Date",
            "text": "Now, for tests."
          }
        ]
      },
      {
        "name": "StandardWebhook",
        "text": "A verified delivery of an endpoint in the format of Standard Webhooks.",
        "kind": "interface",
        "members": [
          {
            "signature": "event: WebhookEvent",
            "text": ""
          },
          {
            "signature": "id: string",
            "text": "The event's id, the same in every attempt."
          },
          {
            "signature": "sequence: number | null",
            "text": "The event's number among yours, to order by."
          },
          {
            "signature": "timestamp: Date",
            "text": "When this attempt was made."
          }
        ]
      },
      {
        "name": "Subscriptions",
        "text": "Recurring charges that produce orders.",
        "kind": "interface",
        "members": [
          {
            "signature": "create(body: CreateSubscription, options?: WriteOptions): Promise<Subscription>",
            "text": "Creates a subscription; with an `interval` its orders are issued by themselves."
          },
          {
            "signature": "get(id: string, options?: RequestOptions): Promise<Subscription>",
            "text": "Reads a subscription."
          },
          {
            "signature": "update(id: string, body: UpdateSubscription, options?: RequestOptions): Promise<Subscription>",
            "text": "Changes a subscription; what touches charging applies from the next period."
          },
          {
            "signature": "charge(id: string, options?: WriteOptions): Promise<Order | PendingCharge>",
            "text": "Issues the order of the current period, or gets the open one. `not_due` when the period is charged."
          },
          {
            "signature": "accept(id: string, periodIndex: number, options?: WriteOptions): Promise<Subscription>",
            "text": "Counts what came for a period too late, or too little, as its payment."
          },
          {
            "signature": "cancel(id: string, options?: WriteOptions): Promise<Subscription>",
            "text": "Cancels a subscription and its open order."
          },
          {
            "signature": "list(query?: ListSubscriptions, options?: RequestOptions): List<Subscription>",
            "text": "Lists your subscriptions, newest first."
          },
          {
            "signature": "export(query?: ExportSubscriptions, options?: RequestOptions): Promise<string>",
            "text": "All pages of the list as CSV."
          }
        ]
      },
      {
        "name": "Testing",
        "text": "Of deployments for tests alone: payers, networks and time. Where money is real each of these is `not_found`.",
        "kind": "interface",
        "members": [
          {
            "signature": "fund(body: FundTestAddress, options?: WriteOptions): Promise<TestFunding>",
            "text": "Gives an address USDC of the test chain."
          },
          {
            "signature": "pay(orderId: string, body?: Partial<PayTestOrder>, options?: WriteOptions): Promise<TestPayments>",
            "text": "Pays an order as a sample payer; what is due, by a plain transfer, unless the body has other wishes."
          },
          {
            "signature": "scenarios(options?: RequestOptions): Promise<TestScenarioList>",
            "text": "Lists what can be simulated, with the events to expect."
          },
          {
            "signature": "simulate(orderId: string, body: SimulateTestOrder, options?: WriteOptions): Promise<TestSimulation>",
            "text": "Has something go wrong with an order, by transactions of the chain."
          },
          {
            "signature": "clock(options?: RequestOptions): Promise<TestClock>",
            "text": "Reads the clock of the deployment."
          },
          {
            "signature": "advance(body: AdvanceTestClock, options?: WriteOptions): Promise<TestClock>",
            "text": "Moves the clock forward, for everyone; resolves when it has come there and nothing is left to be done."
          }
        ]
      },
      {
        "name": "WebhookBodies",
        "text": "Bodies of webhooks, by their `type`.",
        "kind": "interface",
        "members": [
          {
            "signature": "'order.paid': Schemas['OrderPaidWebhook']",
            "text": ""
          },
          {
            "signature": "'order.underpaid': Schemas['OrderUnderpaidWebhook']",
            "text": ""
          },
          {
            "signature": "'order.expired': Schemas['OrderExpiredWebhook']",
            "text": ""
          },
          {
            "signature": "'order.cancelled': Schemas['OrderCancelledWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.charged': Schemas['SubscriptionChargedWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.cancelled': Schemas['SubscriptionCancelledWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.expired': Schemas['SubscriptionExpiredWebhook']",
            "text": ""
          },
          {
            "signature": "'order.overpaid': Schemas['OrderOverpaidWebhook']",
            "text": ""
          },
          {
            "signature": "'order.paid_late': Schemas['OrderPaidLateWebhook']",
            "text": ""
          },
          {
            "signature": "'order.paid_after_cancel': Schemas['OrderPaidAfterCancelWebhook']",
            "text": ""
          },
          {
            "signature": "'order.duplicate': Schemas['OrderDuplicateWebhook']",
            "text": ""
          },
          {
            "signature": "'order.settled': Schemas['OrderSettledWebhook']",
            "text": ""
          },
          {
            "signature": "'order.accepted': Schemas['OrderAcceptedWebhook']",
            "text": ""
          },
          {
            "signature": "'payment.unmatched': Schemas['PaymentUnmatchedWebhook']",
            "text": ""
          },
          {
            "signature": "'payment.attached': Schemas['PaymentAttachedWebhook']",
            "text": ""
          },
          {
            "signature": "'refund.created': Schemas['RefundCreatedWebhook']",
            "text": ""
          },
          {
            "signature": "'refund.confirmed': Schemas['RefundConfirmedWebhook']",
            "text": ""
          },
          {
            "signature": "'refund.failed': Schemas['RefundFailedWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.order_issued': Schemas['SubscriptionOrderIssuedWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.upcoming': Schemas['SubscriptionUpcomingWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.past_due': Schemas['SubscriptionPastDueWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.paused': Schemas['SubscriptionPausedWebhook']",
            "text": ""
          },
          {
            "signature": "'subscription.resumed': Schemas['SubscriptionResumedWebhook']",
            "text": ""
          },
          {
            "signature": "'account.changed': Schemas['AccountChangedWebhook']",
            "text": ""
          },
          {
            "signature": "'endpoint.test': Schemas['EndpointTestWebhook']",
            "text": ""
          }
        ]
      },
      {
        "name": "WriteOptions",
        "text": "Set for a call that has an effect.",
        "kind": "interface",
        "members": [
          {
            "signature": "idempotencyKey?: string",
            "text": "1 to 255 printable characters; by default a random one. Give your own to be safe over a restart of your process."
          }
        ]
      },
      {
        "name": "AcceptOrder",
        "text": "Sent by `orders.accept`.",
        "kind": "type",
        "signature": "type AcceptOrder = Schemas['AcceptOrder']",
        "members": []
      },
      {
        "name": "AdvanceTestClock",
        "text": "Sent by `testing.advance`.",
        "kind": "type",
        "signature": "type AdvanceTestClock = Schemas['AdvanceTestClock']",
        "members": []
      },
      {
        "name": "ApiErrorCode",
        "text": "Codes with which the API refuses a request.",
        "kind": "type",
        "signature": "type ApiErrorCode = Problem['code']",
        "members": []
      },
      {
        "name": "AttachPayment",
        "text": "Sent by `attention.attach`.",
        "kind": "type",
        "signature": "type AttachPayment = Schemas['AttachAttention']",
        "members": []
      },
      {
        "name": "AttentionItem",
        "text": "Money that does not simply settle.",
        "kind": "type",
        "signature": "type AttentionItem = Schemas['AttentionItem']",
        "members": []
      },
      {
        "name": "AuditEntry",
        "text": "One change of the account, and its author.",
        "kind": "type",
        "signature": "type AuditEntry = Schemas['AuditEntry']",
        "members": []
      },
      {
        "name": "Checkout",
        "text": "A payer's view by the link.",
        "kind": "type",
        "signature": "type Checkout = Schemas['Checkout']",
        "members": []
      },
      {
        "name": "Checkpoint",
        "text": "A hash over what was booked of some blocks, and over the checkpoint before it.",
        "kind": "type",
        "signature": "type Checkpoint = Schemas['CheckpointList']['data'][number]",
        "members": []
      },
      {
        "name": "CheckpointPage",
        "text": "A page of checkpoints, and where the next one begins.",
        "kind": "type",
        "signature": "type CheckpointPage = Schemas['CheckpointList']",
        "members": []
      },
      {
        "name": "ClientErrorCode",
        "text": "Codes of failures without an answer of the API.",
        "kind": "type",
        "signature": "type ClientErrorCode = | 'connection_failed' | 'timeout' | 'aborted' | 'unexpected_answer' | 'events_missing' | 'raw_body_required' | 'invalid_signature' | 'timestamp_out_of_range' | 'malformed_event' | 'invalid_argument' | 'address_mismatch'",
        "members": []
      },
      {
        "name": "CreateExport",
        "text": "Sent by `exports.create`.",
        "kind": "type",
        "signature": "type CreateExport = Schemas['CreateExport']",
        "members": []
      },
      {
        "name": "CreateLink",
        "text": "Sent by `links.create`.",
        "kind": "type",
        "signature": "type CreateLink = Schemas['CreateLink']",
        "members": []
      },
      {
        "name": "CreateOrder",
        "text": "Sent by `orders.create`.",
        "kind": "type",
        "signature": "type CreateOrder = Schemas['CreateOrder']",
        "members": []
      },
      {
        "name": "CreateRecovery",
        "text": "Sent by `orders.recover`.",
        "kind": "type",
        "signature": "type CreateRecovery = Schemas['CreateRecovery']",
        "members": []
      },
      {
        "name": "CreateRefund",
        "text": "Sent by `refunds.create`.",
        "kind": "type",
        "signature": "type CreateRefund = Schemas['CreateRefund']",
        "members": []
      },
      {
        "name": "CreateRefundClaim",
        "text": "Sent by `refunds.createClaim`.",
        "kind": "type",
        "signature": "type CreateRefundClaim = Schemas['CreateRefundClaim']",
        "members": []
      },
      {
        "name": "CreateSubscription",
        "text": "Sent by `subscriptions.create`.",
        "kind": "type",
        "signature": "type CreateSubscription = Schemas['CreateSubscription']",
        "members": []
      },
      {
        "name": "CreateWebhookEndpoint",
        "text": "Sent by `merchant.endpoints.create`.",
        "kind": "type",
        "signature": "type CreateWebhookEndpoint = Schemas['CreateWebhookEndpoint']",
        "members": []
      },
      {
        "name": "Credential",
        "text": "A key or token, or a function that gives a fresh one.",
        "kind": "type",
        "signature": "type Credential = string | (() => string | Promise<string>)",
        "members": []
      },
      {
        "name": "CustomerErasure",
        "text": "Orders, payment links and subscriptions whose customer was erased.",
        "kind": "type",
        "signature": "type CustomerErasure = Schemas['CustomerErasure']",
        "members": []
      },
      {
        "name": "Delivery",
        "text": "One event on its way to one endpoint.",
        "kind": "type",
        "signature": "type Delivery = Schemas['Delivery']",
        "members": []
      },
      {
        "name": "DeliveryDetail",
        "text": "A delivery with its attempts.",
        "kind": "type",
        "signature": "type DeliveryDetail = Schemas['DeliveryDetail']",
        "members": []
      },
      {
        "name": "DossierKeys",
        "text": "The answer of `exports.dossierKeys`.",
        "kind": "type",
        "signature": "type DossierKeys = Schemas['DossierKeys']",
        "members": []
      },
      {
        "name": "Entry",
        "text": "One movement of your money.",
        "kind": "type",
        "signature": "type Entry = EntryPage['data'][number]",
        "members": []
      },
      {
        "name": "EntryPage",
        "text": "A page of the ledger, and the cursor behind it.",
        "kind": "type",
        "signature": "type EntryPage = Schemas['EntryList']",
        "members": []
      },
      {
        "name": "EraseCustomers",
        "text": "Sent by `orders.eraseCustomers`.",
        "kind": "type",
        "signature": "type EraseCustomers = Schemas['EraseCustomers']",
        "members": []
      },
      {
        "name": "EventFields",
        "text": "Fields of an event besides `type` and `data`.",
        "kind": "type",
        "signature": "type EventFields = Omit<Schemas['Event'], 'type' | 'data'>",
        "members": []
      },
      {
        "name": "ExplainOrder",
        "text": "Sent by `orders.explain`.",
        "kind": "type",
        "signature": "type ExplainOrder = Schemas['ExplainOrder']",
        "members": []
      },
      {
        "name": "Explanation",
        "text": "Why a transaction did or did not pay an order.",
        "kind": "type",
        "signature": "type Explanation = Schemas['Explanation']",
        "members": []
      },
      {
        "name": "Export",
        "text": "A file of your ledger, and how far it is.",
        "kind": "type",
        "signature": "type Export = Schemas['Export']",
        "members": []
      },
      {
        "name": "ExportAttention",
        "text": "Filters of `attention.export`.",
        "kind": "type",
        "signature": "type ExportAttention = Query<'exportAttention'>",
        "members": []
      },
      {
        "name": "ExportAudit",
        "text": "Filters of `merchant.audit.export`.",
        "kind": "type",
        "signature": "type ExportAudit = Query<'exportAudit'>",
        "members": []
      },
      {
        "name": "ExportDeliveries",
        "text": "Filters of `merchant.deliveries.export`.",
        "kind": "type",
        "signature": "type ExportDeliveries = Query<'exportDeliveries'>",
        "members": []
      },
      {
        "name": "ExportEntries",
        "text": "Filters of `entries.export`.",
        "kind": "type",
        "signature": "type ExportEntries = Query<'exportEntries'>",
        "members": []
      },
      {
        "name": "ExportList",
        "text": "Your files of the ledger, newest first.",
        "kind": "type",
        "signature": "type ExportList = Schemas['ExportList']",
        "members": []
      },
      {
        "name": "ExportOrders",
        "text": "Filters of `orders.export`.",
        "kind": "type",
        "signature": "type ExportOrders = Query<'exportOrders'>",
        "members": []
      },
      {
        "name": "ExportSubscriptions",
        "text": "Filters of `subscriptions.export`.",
        "kind": "type",
        "signature": "type ExportSubscriptions = Query<'exportSubscriptions'>",
        "members": []
      },
      {
        "name": "Fetch",
        "text": "The part of `fetch` that is used.",
        "kind": "type",
        "signature": "type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>",
        "members": []
      },
      {
        "name": "FundTestAddress",
        "text": "Sent by `testing.fund`.",
        "kind": "type",
        "signature": "type FundTestAddress = Schemas['FundTestAddress']",
        "members": []
      },
      {
        "name": "HandleAttention",
        "text": "Sent by `attention.handle`.",
        "kind": "type",
        "signature": "type HandleAttention = Schemas['HandleAttention']",
        "members": []
      },
      {
        "name": "HeadersLike",
        "text": "The headers of a request: a `Headers`, or what Node and Express have.",
        "kind": "type",
        "signature": "type HeadersLike = { get(name: string): string | null } | Record<string, string | readonly string[] | undefined>",
        "members": []
      },
      {
        "name": "KnownWebhookEvent",
        "text": "An event of a kind that this version knows.",
        "kind": "type",
        "signature": "type KnownWebhookEvent = WebhookBodies[WebhookType]",
        "members": []
      },
      {
        "name": "Link",
        "text": "A page on which payers open orders.",
        "kind": "type",
        "signature": "type Link = Schemas['Link']",
        "members": []
      },
      {
        "name": "ListAttention",
        "text": "Filters and page of `attention.list`.",
        "kind": "type",
        "signature": "type ListAttention = Query<'listAttention'>",
        "members": []
      },
      {
        "name": "ListAudit",
        "text": "Filters and page of `merchant.audit.list`.",
        "kind": "type",
        "signature": "type ListAudit = Query<'listAudit'>",
        "members": []
      },
      {
        "name": "ListCheckpoints",
        "text": "Page of `chain.checkpoints.list`.",
        "kind": "type",
        "signature": "type ListCheckpoints = Query<'listCheckpoints'>",
        "members": []
      },
      {
        "name": "ListDeliveries",
        "text": "Filters and page of `merchant.deliveries.list`.",
        "kind": "type",
        "signature": "type ListDeliveries = Query<'listDeliveries'>",
        "members": []
      },
      {
        "name": "ListEntries",
        "text": "Filters and page of `entries.list`; to read on from a cursor use `entries.follow`.",
        "kind": "type",
        "signature": "type ListEntries = Query<'listEntries'>",
        "members": []
      },
      {
        "name": "ListEvents",
        "text": "Filters and page of `events.list`; to read on from a sequence use `events.follow`.",
        "kind": "type",
        "signature": "type ListEvents = Omit<Query<'listEvents'>, 'after' | 'wait'>",
        "members": []
      },
      {
        "name": "ListLinks",
        "text": "Filters and page of `links.list`.",
        "kind": "type",
        "signature": "type ListLinks = Query<'listLinks'>",
        "members": []
      },
      {
        "name": "ListOrders",
        "text": "Filters and page of `orders.list`.",
        "kind": "type",
        "signature": "type ListOrders = Query<'listOrders'>",
        "members": []
      },
      {
        "name": "ListSubscriptions",
        "text": "Filters and page of `subscriptions.list`.",
        "kind": "type",
        "signature": "type ListSubscriptions = Query<'listSubscriptions'>",
        "members": []
      },
      {
        "name": "Merchant",
        "text": "The merchant of the key, or of the session's user.",
        "kind": "type",
        "signature": "type Merchant = Schemas['Merchant']",
        "members": []
      },
      {
        "name": "Order",
        "text": "An invoice in BRL that is settled in USDC.",
        "kind": "type",
        "signature": "type Order = Schemas['Order']",
        "members": []
      },
      {
        "name": "Payment",
        "text": "One payment of an order.",
        "kind": "type",
        "signature": "type Payment = Schemas['Payment']",
        "members": []
      },
      {
        "name": "PayTestOrder",
        "text": "Sent by `testing.pay`.",
        "kind": "type",
        "signature": "type PayTestOrder = Schemas['PayTestOrder']",
        "members": []
      },
      {
        "name": "PendingCharge",
        "text": "A charge whose order is on its way; its `checkout_url` already works.",
        "kind": "type",
        "signature": "type PendingCharge = Schemas['PendingCharge']",
        "members": []
      },
      {
        "name": "PonteErrorCode",
        "text": "Every code of a `PonteError`. A newer API may answer one that is not known here, so it is open.",
        "kind": "type",
        "signature": "type PonteErrorCode = ApiErrorCode | ClientErrorCode | (string & { readonly newer?: never })",
        "members": []
      },
      {
        "name": "Problem",
        "text": "An RFC 9457 problem, the body of every refusal.",
        "kind": "type",
        "signature": "type Problem = Schemas['Problem']",
        "members": []
      },
      {
        "name": "RawBody",
        "text": "A request's body before anything has parsed it. A `Buffer` is one.",
        "kind": "type",
        "signature": "type RawBody = string | Uint8Array | ArrayBuffer",
        "members": []
      },
      {
        "name": "Recovery",
        "text": "A token that is sent on from a deposit address to the payout address of its order.",
        "kind": "type",
        "signature": "type Recovery = Schemas['Recovery']",
        "members": []
      },
      {
        "name": "RecoveryList",
        "text": "The latest recovery of each token at an order's deposit address.",
        "kind": "type",
        "signature": "type RecoveryList = Schemas['RecoveryList']",
        "members": []
      },
      {
        "name": "Refund",
        "text": "Money that goes back from your wallet.",
        "kind": "type",
        "signature": "type Refund = Schemas['Refund']",
        "members": []
      },
      {
        "name": "RefundClaim",
        "text": "A link by which a payer names the address that money goes back to.",
        "kind": "type",
        "signature": "type RefundClaim = Schemas['RefundClaim']",
        "members": []
      },
      {
        "name": "RefundList",
        "text": "The refunds of an order, and what may still go back.",
        "kind": "type",
        "signature": "type RefundList = Schemas['RefundList']",
        "members": []
      },
      {
        "name": "ReplayDeliveries",
        "text": "Sent by `merchant.deliveries.replayAll`.",
        "kind": "type",
        "signature": "type ReplayDeliveries = Schemas['ReplayDeliveries']",
        "members": []
      },
      {
        "name": "Replayed",
        "text": "The number of events of a time range that are delivered again, and the cursor to go on with.",
        "kind": "type",
        "signature": "type Replayed = Schemas['Replayed']",
        "members": []
      },
      {
        "name": "SignRefund",
        "text": "Sent by `refunds.sign`.",
        "kind": "type",
        "signature": "type SignRefund = Schemas['SignRefund']",
        "members": []
      },
      {
        "name": "SimulateTestOrder",
        "text": "Sent by `testing.simulate`.",
        "kind": "type",
        "signature": "type SimulateTestOrder = Schemas['SimulateTestOrder']",
        "members": []
      },
      {
        "name": "StoredEvent",
        "text": "An event as the API keeps it for 30 days.",
        "kind": "type",
        "signature": "type StoredEvent = EventFields & WebhookEvent",
        "members": []
      },
      {
        "name": "Subscription",
        "text": "A recurring charge that produces orders.",
        "kind": "type",
        "signature": "type Subscription = Schemas['Subscription']",
        "members": []
      },
      {
        "name": "Summary",
        "text": "Sums of the ledger by period.",
        "kind": "type",
        "signature": "type Summary = Schemas['Summary']",
        "members": []
      },
      {
        "name": "SummaryQuery",
        "text": "Period and time zone of `entries.summary`.",
        "kind": "type",
        "signature": "type SummaryQuery = Query<'getSummary'>",
        "members": []
      },
      {
        "name": "TestClock",
        "text": "The clock of a deployment for tests.",
        "kind": "type",
        "signature": "type TestClock = Schemas['TestClock']",
        "members": []
      },
      {
        "name": "TestFunding",
        "text": "USDC of the test chain that an address was given.",
        "kind": "type",
        "signature": "type TestFunding = Schemas['TestFunding']",
        "members": []
      },
      {
        "name": "TestPayments",
        "text": "Payments of the sample payer.",
        "kind": "type",
        "signature": "type TestPayments = Schemas['TestPayments']",
        "members": []
      },
      {
        "name": "TestScenarioList",
        "text": "Scenarios that can be simulated.",
        "kind": "type",
        "signature": "type TestScenarioList = Schemas['TestScenarioList']",
        "members": []
      },
      {
        "name": "TestSimulation",
        "text": "A simulated scenario, with the events to expect.",
        "kind": "type",
        "signature": "type TestSimulation = Schemas['TestSimulation']",
        "members": []
      },
      {
        "name": "UpdateOrder",
        "text": "Sent by `orders.update`.",
        "kind": "type",
        "signature": "type UpdateOrder = Schemas['UpdateOrder']",
        "members": []
      },
      {
        "name": "UpdateSubscription",
        "text": "Sent by `subscriptions.update`.",
        "kind": "type",
        "signature": "type UpdateSubscription = Schemas['UpdateSubscription']",
        "members": []
      },
      {
        "name": "UpdateWebhookEndpoint",
        "text": "Sent by `merchant.endpoints.update`.",
        "kind": "type",
        "signature": "type UpdateWebhookEndpoint = Schemas['UpdateWebhookEndpoint']",
        "members": []
      },
      {
        "name": "WebhookEndpoint",
        "text": "Where webhooks go besides the `webhook_url`.",
        "kind": "type",
        "signature": "type WebhookEndpoint = Schemas['WebhookEndpoint']",
        "members": []
      },
      {
        "name": "WebhookEvent",
        "text": "Open: a new kind neither fails a check nor breaks a type.",
        "kind": "type",
        "signature": "type WebhookEvent = KnownWebhookEvent | NewerWebhookEvent",
        "members": []
      },
      {
        "name": "WebhookType",
        "text": "The kinds of events that this version knows.",
        "kind": "type",
        "signature": "type WebhookType = keyof WebhookBodies",
        "members": []
      }
    ]
  },
  {
    "door": "@ponte/sdk/express",
    "exports": [
      {
        "name": "webhookHandler",
        "text": "A webhook receiver for Express and everything else on `node:http`. It reads the body itself when no parser ran before; `express.raw()` may.\n\n```ts\napp.post('/webhooks', webhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } }))\napp.use(express.json())\n```",
        "kind": "function",
        "signature": "function webhookHandler(options: WebhookHandlerOptions): (request: NodeRequest, response: NodeResponse) => Promise<void>",
        "members": []
      },
      {
        "name": "NodeRequest",
        "text": "The part of a request of Express, Next's pages or `node:http` that is read.",
        "kind": "interface",
        "members": [
          {
            "signature": "headers: Record<string, string | string[] | undefined>",
            "text": ""
          },
          {
            "signature": "body?: unknown",
            "text": "Set by a body parser."
          },
          {
            "signature": "rawBody?: unknown",
            "text": "Set by some hosts."
          }
        ]
      },
      {
        "name": "NodeResponse",
        "text": "The part of a response that is used.",
        "kind": "interface",
        "members": [
          {
            "signature": "statusCode: number",
            "text": ""
          },
          {
            "signature": "setHeader(name: string, value: string): unknown",
            "text": ""
          },
          {
            "signature": "end(text: string): unknown",
            "text": ""
          }
        ]
      },
      {
        "name": "SeenEvents",
        "text": "Keys of events that were handled, by `dedupeKey`, or by `webhook-id` in the standard format; a `Set` is one. Over several processes it must be a store of your own, with a unique column.",
        "kind": "interface",
        "members": [
          {
            "signature": "has(key: string): boolean | Promise<boolean>",
            "text": ""
          },
          {
            "signature": "add(key: string): unknown",
            "text": ""
          }
        ]
      },
      {
        "name": "WebhookHandlerOptions",
        "text": "Secret, reactions and memory of a receiver of webhooks.",
        "kind": "interface",
        "members": [
          {
            "signature": "secret: string | readonly string[]",
            "text": "The webhook secret; the old and the new one while it is being rotated."
          },
          {
            "signature": "on: EventHandlers",
            "text": "Functions by kind. When one throws, the service tries again after a minute, five, thirty and so on."
          },
          {
            "signature": "format?: 'ponte' | 'standard'",
            "text": "`ponte` by default; `standard` for an endpoint of that format."
          },
          {
            "signature": "seen?: SeenEvents",
            "text": "Events that were handled already are answered and not handled again."
          },
          {
            "signature": "onError?(error: unknown): void",
            "text": "Called with everything that was not answered 2xx."
          }
        ]
      },
      {
        "name": "EventHandlers",
        "text": "Functions by kind: each is given the event's data and the event.",
        "kind": "type",
        "signature": "type EventHandlers = { [Type in WebhookType]?: (data: WebhookBodies[Type]['data'], event: WebhookBodies[Type]) => unknown } & { /** Every kind that has no function of its own. */ '*'?: (data: unknown, event: WebhookEvent) => unknown }",
        "members": []
      }
    ]
  },
  {
    "door": "@ponte/sdk/fetch",
    "exports": [
      {
        "name": "webhookHandler",
        "text": "A webhook receiver for everything that speaks `fetch`: Workers, Deno, Bun, Hono.\n\n```ts\nconst receive = webhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } })\nexport default { fetch: receive }\n```",
        "kind": "function",
        "signature": "function webhookHandler(options: WebhookHandlerOptions): (request: FetchRequest) => Promise<Response>",
        "members": []
      },
      {
        "name": "FetchRequest",
        "text": "The part of a `Request` that is read.",
        "kind": "interface",
        "members": [
          {
            "signature": "readonly method: string",
            "text": ""
          },
          {
            "signature": "readonly headers: { get(name: string): string | null }",
            "text": ""
          },
          {
            "signature": "readonly body?: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>; cancel(): Promise<unknown> } } | null",
            "text": "The body in pieces."
          },
          {
            "signature": "arrayBuffer(): Promise<ArrayBuffer>",
            "text": ""
          }
        ]
      }
    ]
  },
  {
    "door": "@ponte/sdk/next",
    "exports": [
      {
        "name": "pagesWebhookHandler",
        "text": "A webhook receiver for Express and everything else on `node:http`. It reads the body itself when no parser ran before; `express.raw()` may.\n\n```ts\napp.post('/webhooks', webhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } }))\napp.use(express.json())\n```",
        "kind": "function",
        "signature": "function webhookHandler(options: WebhookHandlerOptions): (request: NodeRequest, response: NodeResponse) => Promise<void>",
        "members": []
      },
      {
        "name": "webhookHandler",
        "text": "A webhook receiver for everything that speaks `fetch`: Workers, Deno, Bun, Hono.\n\n```ts\nconst receive = webhookHandler({ secret, on: { 'order.paid': data => ship(data.external_ref) } })\nexport default { fetch: receive }\n```",
        "kind": "function",
        "signature": "function webhookHandler(options: WebhookHandlerOptions): (request: FetchRequest) => Promise<Response>",
        "members": []
      },
      {
        "name": "config",
        "text": "Keeps Next.js from parsing the body before the signature is checked.",
        "kind": "value",
        "signature": "config",
        "members": []
      }
    ]
  }
]
