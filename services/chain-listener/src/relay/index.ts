import { createApp, type Database, type HttpServer, httpServer, type Logger, type Metrics, type Part } from '@ponte/service-kit'
import type { z } from 'zod'
import { checkpointStore } from '../checkpoints'
import { createChecksums } from '../logs/checksums'
import type { ChainClient } from '../rpc/chain-client'
import { createLeader, lockOf } from '../store/leader'
import { confirmedBlock, takeRelayLease } from '../store/position'
import type { ReadTransaction } from '../transaction'
import { createAcceptance } from './acceptance'
import type { Budgets } from './line/budget'
import { createNonceLine, type NonceLine } from './line/nonce-line'
import { shareOf } from './line/price'
import { type Lines, observeRelay, relayCounters } from './metrics'
import { createPublisher } from './publisher'
import { createSubmitter, createSweeper, type RelayerOptions } from './relayer'
import { gatewayRoutes } from './routes'
import type { relaySettings } from './settings'
import { tokenDomain } from './signature'
import { openSigner } from './signer/open-signer'
import type { Signer } from './signer/signer'
import { authorizationStore } from './store/authorizations'
import { blockedStore } from './store/blocked'
import { dueRecoveryStore } from './store/due-recoveries'
import { payableStore } from './store/payables'
import { signedRefundStore } from './store/signed-refunds'
import { relayStore } from './store/transactions'

export { createIntake, type Intake } from './intake'
export { payableStore } from './store/payables'

type Settings = z.infer<z.ZodObject<typeof relaySettings>>

export interface RelayOptions {
  settings: Settings & { CHAIN_ID: number; TOKEN_ADDRESS: string; ROUTER_ADDRESSES: string[]; START_BLOCK: number } & {
    HOST: string
    PORT: number
    POLL_MS: number
    LEADER_SILENCE_MS: number
  }
  database: Database
  chain: ChainClient
  readTransaction: ReadTransaction
  /** Resolves when chain, token and routers are what is configured. */
  verified(): Promise<void>
  metrics: Metrics
  now: () => Date
  logger: Logger
}

const GWEI = 1_000_000_000n
/** A developer's chain has a coin of no worth. */
const DEVELOPMENT_COIN = 1_000_000n

/** Moves money on from addresses of its own, and submits signatures of payers: two accounts, two lines, in the replica that leads. */
export function createRelay(options: RelayOptions) {
  const { settings, database, chain, metrics, now, logger } = options
  const chainId = settings.CHAIN_ID
  const payables = payableStore(database, chainId)
  const authorizations = authorizationStore(database, chainId)
  const refunds = settings.REFUNDS_PAUSED ? undefined : signedRefundStore(database, chainId)
  const recoveries = settings.RECOVERIES_PAUSED ? undefined : dueRecoveryStore(database, chainId)
  const relays = relayStore(database, chainId, settings.GAS_NEW_MERCHANT_DAYS)
  const signers = signersOf(settings)
  // A KMS that cannot be reached stops the line of its account only.
  const accounts = async () => {
    const addresses = await Promise.all([signers.sweeps, signers.signatures].map(signer => signer?.address().catch(() => undefined)))
    return addresses.flatMap(address => address ?? [])
  }
  const leader = createLeader(database, {
    name: 'relay leader',
    lock: lockOf('relay', chainId),
    silenceMs: settings.LEADER_SILENCE_MS,
    async takeLease() {
      await options.verified()
      return takeRelayLease(database, chainId, settings.START_BLOCK, await accounts())
    },
    onChange: () => wake(),
    logger,
  })
  const counters = relayCounters(metrics)
  const openLine = (signer: Signer | undefined, paused: boolean): NonceLine | undefined =>
    signer &&
    createNonceLine({
      ...{ chain, store: relays, signer, chainId, paused, now, logger },
      ceiling: BigInt(settings.RELAYER_MAX_FEE_GWEI) * GWEI,
      stuckMs: settings.RELAYER_STUCK_MS,
      giveUpMs: settings.RELAYER_GIVE_UP_MS,
      coinUnits: settings.COIN_USDC ?? DEVELOPMENT_COIN,
      shareBps: settings.GAS_SHARE_MAX_BPS,
      budgets: budgetsOf(settings),
      counted: counters.counted,
      async finished(relay, outcome, receipt) {
        const [epoch, payable] = [leader.epoch(), relay.orderIds[0] === undefined ? undefined : await payables.find(relay.orderIds[0])]
        const { kind, payer, salt } = relay
        if (kind !== 'authorization' || epoch === undefined || payer === null || salt === null || !payable) return
        // A reverted or replaced one is looked at again: what became of its nonce is for the chain to show.
        const end =
          outcome === 'done' ? { state: 'paid' as const, txHash: receipt?.hash ?? null } : { state: 'accepted' as const, reason: outcome }
        await authorizations.settle(epoch, { memo: payable.memo, payer, salt }, end, now())
      },
    })
  const lines: Lines = {}
  const sweeps = openLine(signers.sweeps, settings.SWEEPS_PAUSED)
  const signatures = openLine(signers.signatures, settings.GASLESS_PAUSED)
  if (sweeps) lines.sweep = sweeps
  else logger.warn('no account for sweeps is named (RELAYER_…): nothing is swept')
  if (signatures) lines.authorization = signatures
  else logger.warn("no account for payers' signatures is named (GASLESS_…): none is taken")
  const gas = { key: settings.GAS_MAX_SIGNATURE, wallet: settings.GAS_MAX_WALLET }
  const working: RelayerOptions = {
    ...{ token: settings.TOKEN_ADDRESS, routers: settings.ROUTER_ADDRESSES, chain, payables, relays, authorizations, refunds, recoveries },
    ...{ leader, now, logger },
    accounts: async () => {
      const addresses = await Promise.all([sweeps, signatures].map(line => line?.address()))
      return addresses.flatMap(address => address?.toLowerCase() ?? [])
    },
    confirmed: () => confirmedBlock(database, chainId),
    publish: createPublisher(authorizations, blockedStore(database, chainId), chainId, createChecksums(), now),
    minUnits: settings.DEPOSIT_MIN_UNITS,
    batchMax: settings.DEPOSIT_BATCH_MAX,
    gas: { sweeps: { one: settings.GAS_MAX_SWEEP, batch: settings.GAS_MAX_BATCH }, signatures: gas, recovery: settings.GAS_MAX_RECOVERY },
    // Its share of this is what an order's gas may cost.
    recoveryWorthUnits: (settings.GAS_BUDGET_ORDER_USDC * 10_000n) / BigInt(settings.GAS_SHARE_MAX_BPS),
    pollMs: settings.POLL_MS,
  }
  const sweeper = sweeps && createSweeper(working, sweeps)
  const submitter = signatures && createSubmitter(working, signatures)
  const wake = () => {
    sweeper?.wake()
    submitter?.wake()
  }
  observeRelay({
    ...{ metrics, chain, lines, payables, authorizations, now, minUnits: settings.DEPOSIT_MIN_UNITS },
    gas: { sweep: settings.GAS_MAX_SWEEP, authorization: settings.GAS_MAX_SIGNATURE },
  })
  const accept = createAcceptance({
    ...{ chain, token: settings.TOKEN_ADDRESS, payables, authorizations, gas, now },
    domain: tokenDomain(chain, chainId, settings.TOKEN_ADDRESS, now),
    line: settings.GASLESS_PAUSED ? undefined : signatures,
    contractWallets: settings.CONTRACT_WALLETS,
    minUnits: settings.GASLESS_MIN_UNITS,
    refused: counters.refused,
  })
  const http = openHttp(options, tokenSecrets =>
    gatewayRoutes({
      ...{ chainId, accept, accepted: wake, readTransaction: options.readTransaction, tokenSecrets, checksum: createChecksums() },
      checkpoints: checkpointStore(database, chainId),
    }),
  )
  const works = [sweeper, submitter].filter(part => part !== undefined)
  const parts: Part[] = [...(works.length > 0 ? [distinct(signers), leader, ...works] : []), ...(http ? [http] : [])]
  return {
    parts,
    /** Where the gateway hands in payers' signatures and asks about transactions; undefined without its secret. */
    http,
    /** Something in the chain has changed. */
    wake,
    /** Gives the lead up for good: nothing is relayed any more. */
    stop: async () => leader.stop?.(),
    /** The accounts that pay for gas; null where there is none. */
    accounts: async () => ({ sweeps: (await sweeps?.address()) ?? null, signatures: (await signatures?.address()) ?? null }),
  }
}

function signersOf(settings: Settings): Record<'sweeps' | 'signatures', Signer | undefined> {
  const kms = { region: settings.KMS_REGION, endpoint: settings.KMS_ENDPOINT }
  const source = (name: 'RELAYER' | 'GASLESS') => ({
    privateKey: settings[`${name}_PRIVATE_KEY`],
    keyFile: settings[`${name}_KEY_FILE`],
    kmsKey: settings[`${name}_KMS_KEY`],
  })
  return { sweeps: openSigner(source('RELAYER'), kms), signatures: openSigner(source('GASLESS'), kms) }
}

/** Two lines of one account would use each other's nonces. */
const distinct = ({ sweeps, signatures }: ReturnType<typeof signersOf>): Part => ({
  name: 'relayer accounts',
  async start() {
    if (!sweeps || !signatures) return
    // A KMS that cannot be reached now does not keep the chain from being read.
    const [one, other] = await Promise.all([sweeps.address(), signatures.address()]).catch(() => [])
    if (one !== undefined && one === other)
      throw new Error('RELAYER_… and GASLESS_… name the same account: sweeps and payers’ signatures need one each.')
  },
})

const budgetsOf = (settings: Settings): Budgets => ({
  orderUnits: settings.GAS_BUDGET_ORDER_USDC,
  merchantDayUnits: settings.GAS_BUDGET_MERCHANT_DAY_USDC,
  dayUnits: settings.GAS_BUDGET_DAY_USDC,
  newMerchantsDayUnits: shareOf(settings.GAS_BUDGET_DAY_USDC, settings.GAS_NEW_MERCHANTS_BPS),
})

function openHttp(
  { settings, logger, database }: RelayOptions,
  routes: (tokenSecrets: readonly string[]) => ReturnType<typeof gatewayRoutes>,
): HttpServer | undefined {
  const { GATEWAY_TOKEN_SECRET: tokenSecrets, HOST: host, PORT: port } = settings
  if (tokenSecrets === undefined) return undefined
  return httpServer('http', createApp({ routes: routes(tokenSecrets), logger, database }), { host, port })
}
