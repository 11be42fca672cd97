import { queuesReadBy, topologyWith } from '@ponte/contracts'
import {
  answerRetention,
  auditRoutes,
  consumer,
  createApp,
  every,
  httpServer,
  type Overrides,
  outboxRelay,
  type Part,
  serviceParts,
  uuidv7,
} from '@ponte/service-kit'
import { standsStill } from './chain/history'
import { chosenChains, judgePayoutAddress, offersFor, openNetwork } from './chain/network'
import { createCharges } from './charges'
import { type NetworkSettings, networksOf, type OrdersConfig, suspendedAfterMs } from './config'
import { createDossiers } from './dossier/dossiers'
import { dossierSigner, publicJwk } from './dossier/signing'
import { expireDue, park } from './due/expiry'
import { publishSettled } from './due/payouts'
import { makeDossier, makeExport } from './export/export-job'
import { createIntake } from './intake'
import { closeReplaced } from './link-routes'
import { orderMetrics } from './metrics'
import { operatorRoutes } from './operator-routes'
import { createOrderFactory } from './order/factory'
import { payoutOf } from './order/new-order'
import type { Change } from './order/order'
import { askPtax } from './quote/ptax-rate'
import { refusePaused } from './quote/quote'
import { openRates } from './quote/rates'
import { rateSources } from './quote/sources'
import { reactions } from './reactions'
import { reconcileJob } from './reconcile/job'
import { routes } from './routes'
import { openStore } from './store'

/** An order is looked at when its sweep comes; this is for what a process that ended left. */
const PAYOUTS_MS = 60_000
/** An order is asked for when it is made; this is for a question or an answer that was lost. */
const ASK_MS = 60_000
/** A file is made when it is asked for; this is for what another replica left. */
const EXPORTS_MS = 15_000
/** Invoices look when an order is paid that was over; this is for what a process that ended left. */
const INVOICES_MS = 60_000
/** They are spread as they come; this is for a network that is new. */
const SPREAD_MS = 600_000
const RESEND_MS = 1_000
const FOLLOWED_MS = 60_000
const FORGET_MS = 600_000
const MARKET_RATE_MS = 60_000
/** It is published once a day; after a failure the next look is soon enough. */
const PTAX_MS = 1_800_000

export function createOrders(config: OrdersConfig, overrides: Overrides = {}) {
  const queues = queuesReadBy('orders')
  const topology = topologyWith(config.OTHER_NETWORKS.map(network => network.chain_id))
  const { logger, now, metrics, database, bus, assemble } = serviceParts('orders', config, { topology, queues, overrides })
  const relay = outboxRelay(database, bus, logger, { outboxDays: config.OUTBOX_DAYS, inboxDays: config.INBOX_DAYS })

  const measured = orderMetrics(metrics)
  const announce = (order: { id: string; merchantId: string }) => bus.announce(changed(order, now()))
  const committed = (change: Change) => {
    relay.wake()
    measured.committed(change)
    // No page shows an order that has only just been made.
    if (change.from !== null) announce(change.order)
    if (change.from === 'expired' || change.from === 'cancelled') invoices.wake()
  }
  const latestChainTime = () => new Date(now().getTime() + config.BLOCK_TIME_AHEAD_MAX_S * 1_000)
  const store = openStore(database, { now, latestChainTime, committed })
  const rates = openRates(rateSources(config, now), {
    minMicros: config.RATE_MIN,
    maxMicros: config.RATE_MAX,
    maxSpreadBps: config.RATE_MAX_SPREAD_BPS,
    refreshMs: config.RATE_REFRESH_MS,
    now,
    logger,
  })
  metrics.observed('ponte_quote_age_seconds', 'Age of the exchange rate that orders are priced with', rates.ageS)
  metrics.observed('ponte_quote_lasts_seconds', 'How long it prices orders when no source answers any more', rates.lastsS)
  const opened = (settings: NetworkSettings) =>
    openNetwork(settings, {
      ...{ feeBps: config.PLATFORM_FEE_BPS, development: config.DEVELOPMENT_CHAIN },
      ...{ isDepositAddress: store.orders.isDepositAddress, logger },
    })
  const [configured, ...further] = networksOf(config)
  const [first, others] = [opened(configured), further.map(opened)]
  const networks = [first, ...others]
  const chainIds = networks.map(({ chainId }) => chainId)
  metrics.observed(
    'ponte_payment_events_missing',
    'Confirmed ranges of blocks beyond a gap, or in doubt: expiry waits for what is missing',
    () => chainIds.reduce((sum, chainId) => sum + store.chain.view(chainId).missing, 0),
  )
  metrics.observed(
    'ponte_orders_stranded',
    'Open orders past their end that may be paid on a network which is not followed: they never expire',
    () => store.orders.stranded(chainIds, now()),
  )

  const isSuspended = (chainId: number) =>
    networks.some(network => network.chainId === chainId && network.isSuspended) ||
    standsStill(store.chain.view(chainId).lastTime, now(), suspendedAfterMs(config))
  const place = {
    livemode: config.PONTE_MODE === 'live',
    publicUrl: config.PUBLIC_URL,
    isSuspended,
    networks: new Map(networks.map(network => [network.chainId, network])),
    gaslessMinUnits: config.GASLESS_MIN_UNITS,
  }
  const orderFactory = createOrderFactory({
    terms: {
      feeBps: config.PLATFORM_FEE_BPS,
      tolerance: { defaultUnits: config.PAYMENT_TOLERANCE_UNITS, maxUnits: config.PAYMENT_TOLERANCE_MAX_UNITS },
    },
    place,
    depositMinUnits: config.DEPOSIT_MIN_UNITS,
    quote: config.ORDERS_PAUSED ? refusePaused : rates.current,
    async offers({ chain_ids: ofMerchant = null, ...terms }, ofOrder = null) {
      const chosen = chosenChains([first.chainId, ...others.map(({ chainId }) => chainId)], ofMerchant, ofOrder)
      const isOpen = (chainId: number) =>
        // The first one, which payout addresses were checked on, is closed by its operator alone.
        chosen.includes(chainId) && !(chainId === first.chainId ? first.isSuspended : isSuspended(chainId))
      return offersFor(payoutOf(terms), [first, ...others], isOpen)
    },
    head: store.chain.knownHead,
    generation: chainId => store.chain.view(chainId).generation,
  })
  const asking = every(
    'watch',
    ASK_MS,
    () => anyOf(chainIds, chainId => store.watch.askOpen(chainId, store.chain.view(chainId).generation)),
    logger,
  )
  const paidAt = every(
    'watch of payout addresses',
    ASK_MS,
    () => anyOf(networks, ({ chainId, unpayable }) => store.watch.askPayouts(chainId, store.chain.view(chainId).generation, unpayable)),
    logger,
  )
  const refunds = every('refunds', ASK_MS, () => anyOf(chainIds, store.refunds.askUnheard), logger)
  const recoveries = every('recoveries', ASK_MS, () => anyOf(chainIds, store.foreignTokens.askUnheard), logger)
  const spreading = every(
    'watch on further networks',
    RESEND_MS,
    () => store.watch.askNew(networks.map(({ chainId }) => [chainId, store.chain.view(chainId).generation])),
    logger,
  )
  const resending = every('watch of all orders', RESEND_MS, () => eachOf(chainIds, store.watch.askAll), logger)
  const following = every('followed chain', FOLLOWED_MS, () => eachOf(chainIds, store.chain.publishFollowed), logger)
  const adopted = async () => {
    await eachOf(chainIds, store.chain.refresh)
    asking.wake()
    paidAt.wake()
    refunds.wake()
    recoveries.wake()
    following.wake()
  }
  const intake = createIntake({ store, now, logger, onUnmatched: measured.unmatched, onReorged: measured.reorged, adopted })
  const charges = createCharges({ store, now, orderFactory, intake, logger })
  const signer = config.DOSSIER_KEY === undefined ? null : dossierSigner(config.DOSSIER_KEY)
  const dossiers = createDossiers({
    ...{ store, signer, publicUrl: config.PUBLIC_URL },
    networks: place.networks,
  })
  const dossierKeys = { keys: [...(signer ? [signer.jwk] : []), ...config.DOSSIER_FORMER_KEYS.map(publicJwk)] }
  const exporting = every('exports', EXPORTS_MS, signal => makeExport(store, now, signal), logger)
  const proving = every('dossiers', EXPORTS_MS, signal => makeDossier(store, now, signal, dossiers), logger)
  const expiry = every('expiry', config.EXPIRY_SWEEP_MS, () => expireDue(store, chainIds, now, logger), logger)
  const payouts = every('payouts', PAYOUTS_MS, () => publishSettled(store, now), logger)
  const invoices = every('paid invoices', INVOICES_MS, () => closeReplaced(store, now), logger)
  const reconcile = reconcileJob({
    store,
    metrics,
    now,
    logger,
    chainIds,
    everyS: config.RECONCILE_EVERY_S,
    stillAfterMs: suspendedAfterMs(config),
  })
  const valuing = every(
    'market rate',
    MARKET_RATE_MS,
    async () => {
      if (rates.lastsS() > 0) await store.rates.record(rates.current().rateMicros, now())
    },
    logger,
  )
  const { PTAX_URL: ptaxUrl } = config
  const ptax = async (base: string) => {
    const days = await store.rates.ptaxDays(now())
    await store.rates.addPtax(await askPtax(base, { ...days, minMicros: config.RATE_MIN, maxMicros: config.RATE_MAX }))
  }
  // Orders that are made before the first look at the chain would have their addresses watched from its beginning.
  const chainKnown: Part = {
    name: 'chain view',
    start: async () => {
      for (const { routerAddress } of networks) await store.ledger.knowRouter(routerAddress, config.PLATFORM_FEE_BPS)
      await eachOf(chainIds, store.chain.refresh)
    },
  }
  const pruning = answerRetention(database, logger)

  const feeBps = config.PLATFORM_FEE_BPS
  const router = routes({
    networks: place.networks,
    attach: intake.attach,
    isPayable: async (payout, chainId) =>
      (await offersFor(payout, [first, ...others], () => true)).some(network => network.isOffered && network.chainId === chainId),
    exportAsked() {
      exporting.wake()
      proving.wake()
    },
    dossiers,
    dossierKeys,
    store,
    database,
    orderFactory,
    judgePayoutAddress: (address, chainId) => judgePayoutAddress([first, ...others], address, chainId),
    place,
    feeBps,
    now,
    tokenSecrets: config.GATEWAY_TOKEN_SECRET,
  })
  const app = createApp({ routes: router, logger, database })
  const http = httpServer('http', app, { host: config.HOST, port: config.PORT })
  const parts = [
    relay,
    chainKnown,
    ...networks.map(({ deployment }) => deployment),
    rates,
    valuing,
    ...(ptaxUrl === undefined ? [] : [every('PTAX', PTAX_MS, () => ptax(ptaxUrl), logger)]),
    expiry,
    payouts,
    asking,
    paidAt,
    every('payout addresses of all networks', SPREAD_MS, () => store.payoutSpans.spread(chainIds).then(paidAt.wake), logger),
    refunds,
    recoveries,
    ...(others.length === 0 ? [] : [spreading]),
    resending,
    following,
    charges.waiting,
    pruning,
    exporting,
    proving,
    invoices,
    every('expired exports', FORGET_MS, () => store.exports.forget(now()), logger),
    every('mail addresses of claims', FORGET_MS, () => store.refundClaims.forget(now()), logger),
    every('erased customers', FORGET_MS, () => store.invoicing.repeatErasures(now()), logger),
    reconcile.part,
    consumer(
      bus,
      queues,
      reactions({
        store,
        now,
        intake,
        charges,
        chainMoved: expiry.wake,
        payoutChanged: paidAt.wake,
        chainIds,
        announce,
        logger,
        onQuarantined: measured.quarantined,
        audited: reconcile.audited,
      }),
      {
        patienceMs: type => (type === 'chain.blocks' ? config.CHAIN_EVENT_PATIENCE_S * 1_000 : 0),
        onDead: message => park(store, message),
      },
    ),
  ]
  const due = async () => {
    await rates.refresh()
    expiry.wake()
  }
  return assemble({ parts, http, operators: operatorRoutes(store, chainIds, due).use(auditRoutes(database, audited)) })
}

/** Whether there may be more on any. */
async function anyOf<T>(networks: readonly T[], ask: (network: T) => Promise<boolean>): Promise<boolean> {
  let isMore = false
  for (const network of networks) isMore = (await ask(network)) || isMore
  return isMore
}

async function eachOf(chainIds: readonly number[], work: (chainId: number) => Promise<unknown>): Promise<void> {
  for (const chainId of chainIds) await work(chainId)
}

/** Read row by row by an auditor. */
const audited = {
  orders: ['id'],
  payments: ['id'],
  sweeps: ['id'],
  unmatched_payments: ['id'],
  attachments: ['payment_id'],
  refunds: ['id'],
  refund_signatures: ['refund_id', 'valid_before'],
  order_networks: ['order_id', 'chain_id'],
  authorizations: ['order_id'],
  network_authorizations: ['order_id', 'chain_id'],
  outbox: ['id'],
  merchants: ['id'],
  payout_addresses: ['merchant_id', 'merchant_version'],
  payout_spans: ['chain_id', 'address'],
  entries: ['merchant_id', 'sequence'],
  ledgers: ['merchant_id'],
  entry_sums: ['merchant_id', 'quarter', 'kind'],
  entry_day_sums: ['merchant_id', 'day', 'kind'],
  ledger_close: ['id'],
  market_rates: ['at'],
  ptax_rates: ['day'],
  chain_cursors: ['chain_id'],
}

/** Notifies live pages that something a payer can see has changed; losing it loses nothing. */
function changed(order: { id: string; merchantId: string }, at: Date) {
  const event = {
    id: uuidv7(),
    type: 'order.changed',
    occurred_at: at.toISOString(),
    data: { merchant_id: order.merchantId, order_id: order.id },
    trace: null,
  }
  return { id: event.id, type: event.type, body: JSON.stringify(event) }
}
