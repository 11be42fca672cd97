import type { Payout } from './address/payout.js'
import { PonteError } from './failure.js'
import { type Attention, createAttention } from './resources/attention.js'
import { type Chain, createChain } from './resources/chain.js'
import { createEntries, type Entries } from './resources/entries.js'
import { createEvents, type Events } from './resources/events.js'
import { createExports, type Exports } from './resources/exports.js'
import { createLinks, type Links } from './resources/links.js'
import { createMerchant, type MerchantResource } from './resources/merchant.js'
import { createOrders, type Orders } from './resources/orders.js'
import { createRefunds, type Refunds } from './resources/refunds.js'
import { createSubscriptions, type Subscriptions } from './resources/subscriptions.js'
import { createTesting, type Testing } from './resources/testing.js'
import { createTransport, type Fetch } from './transport.js'

/** Options of a client: the address of the API, time limits, repeats and the `fetch` to use. */
export interface PonteOptions {
  /** Where the API is, without `/api/v1`. */
  baseUrl: string
  /** Longest time of one attempt; 10,000 by default. */
  timeoutMs?: number
  /** Most repeats of a request; 2 by default, 0 for never. */
  maxRetries?: number
  /** Another `fetch`, for example one with a proxy. */
  fetch?: Fetch
  /** Where your money goes. Every order that is created, charged or read by its id is held against it: one that could pay elsewhere is an error, `address_mismatch`. */
  payout?: Payout
  /** Allows http:// to another machine, where the key can be read on the way. */
  allowHttp?: boolean
}

/** A key or token, or a function that gives a fresh one. */
export type Credential = string | (() => string | Promise<string>)

/**
 * A client of the Ponte API, for servers: the key must not reach a browser.
 *
 * ```ts
 * const ponte = new Ponte(apiKey, { baseUrl: 'https://pay.example.com' })
 * const order = await ponte.orders.create({ brl_amount: '150.00', external_ref: 'INV-7' }, { idempotencyKey: 'INV-7' })
 * ```
 */
export class Ponte {
  /** One-shot invoices. */
  readonly orders: Orders
  /** Pages on which payers open orders. */
  readonly links: Links
  /** Money that goes back from your wallet. */
  readonly refunds: Refunds
  readonly attention: Attention
  /** Recurring charges. */
  readonly subscriptions: Subscriptions
  /** The events that webhooks send. */
  readonly events: Events
  /** The ledger of your money. */
  readonly entries: Entries
  /** Files of the ledger, made in the background. */
  readonly exports: Exports
  /** Payers, networks and time of a deployment for tests. */
  readonly testing: Testing
  /** Checkpoints of what was booked of the chain. */
  readonly chain: Chain
  /** The account: endpoints, deliveries and who changed what; with a key that has the scope, or a session token. */
  readonly merchant: MerchantResource

  constructor(credential: Credential | undefined, options: PonteOptions) {
    if (!credential) throw wrong('new Ponte() needs an API key: sk_live_ or sk_test_ and 64 hex characters.')
    const current = typeof credential === 'function' ? credential : () => credential
    const send = createTransport({
      baseUrl: checkedUrl(options),
      credential: current,
      timeoutMs: options.timeoutMs ?? 10_000,
      maxRetries: options.maxRetries ?? 2,
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
      headers: { Accept: 'application/json' },
    })
    this.orders = createOrders(send, options.payout)
    this.links = createLinks(send)
    this.refunds = createRefunds(send)
    this.attention = createAttention(send)
    this.subscriptions = createSubscriptions(send, options.payout)
    this.events = createEvents(send)
    this.entries = createEntries(send)
    this.exports = createExports(send)
    this.testing = createTesting(send)
    this.chain = createChain(send)
    this.merchant = createMerchant(send, current)
  }
}

const wrong = (detail: string) => new PonteError({ code: 'invalid_argument', detail })

function checkedUrl({ baseUrl, allowHttp = false }: PonteOptions): string {
  const url = parsedUrl(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) throw wrong('new Ponte() needs a baseUrl such as https://pay.example.com.')
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'http:' && !isLoopback && !allowHttp) {
    throw wrong('baseUrl must be https://, or the API key can be read on the way; allowHttp: true accepts that.')
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

// URL.canParse is missing in early Node 18.
function parsedUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
