import {
  ApiError,
  type CreateExport,
  DOSSIER_ORIGINS_MAX,
  DOSSIER_PAYMENTS_MAX,
  type DossierTransaction,
  formatUsdc,
  type MerchantTerms,
  parseUsdc,
} from '@ponte/contracts'
import { type BlockToProve, NotProvenError } from '../chain/receipt-proof'
import { type Chosen, chooseByAmount, type DossierBasis, type Reached, sumOf } from '../ledger/dossier-basis'
import type { LedgerExport } from '../ledger/export'
import type { Store } from '../store'
import { countedOf, dossierBody, type OriginFacts } from './body'
import { signedPdf } from './dossier-pdf'
import { type DossierSigner, signedDossier, signedFile } from './signing'

/** Of a file with its proofs; a block's receipts can be large, and anyone can make one so. */
const BYTES_MAX = 64_000_000
const BLOCKS_AT_ONCE = 4

/** Why there is no dossier, whatever is tried. */
export class DossierRefusal extends Error {
  override name = 'DossierRefusal'
  constructor(readonly failure: 'not_proven' | 'too_large') {
    super(failure)
  }
}

export interface DossierOptions {
  store: Pick<Store, 'dossiers' | 'orders' | 'invoicing' | 'merchants'>
  /** Null where this installation signs none. */
  signer: DossierSigner | null
  publicUrl: string
  /** By chain, the first one first: a dossier is of one of them. */
  networks: ReadonlyMap<number, DossierNetwork>
}

export interface DossierNetwork {
  network: string
  chainId: number
  tokenAddress: string
  prove(block: BlockToProve): Promise<DossierTransaction[]>
}

export type Dossiers = ReturnType<typeof createDossiers>

export function createDossiers({ store, signer, publicUrl, networks }: DossierOptions) {
  const [first] = networks.keys()
  const networkOf = ({ chainId }: Pick<DossierBasis, 'chainId'>): DossierNetwork => {
    const found = networks.get(chainId ?? first ?? 0)
    if (!found) throw new DossierRefusal('not_proven')
    return found
  }
  const chosenOf = async (merchantId: string, through: number, basis: DossierBasis): Promise<Chosen[] | null> => {
    const { amount, payoutAddress, entries } = basis
    if (entries !== null) return (await store.dossiers.named(merchantId, through, entries)).map(one => ({ ...one, counted: one.units }))
    const reached = { payoutAddress: payoutAddress ?? '', chainId: networkOf(basis).chainId }
    return chooseByAmount(await store.dossiers.newest(merchantId, through, reached, DOSSIER_ORIGINS_MAX), BigInt(amount ?? 0))
  }

  const proofsOf = async (
    origins: readonly OriginFacts[],
    { prove }: DossierNetwork,
    progress: (share: number) => Promise<void>,
  ): Promise<DossierTransaction[]> => {
    const blocks = blocksOf(origins)
    const proven: DossierTransaction[] = []
    let size = 0
    for (let first = 0; first < blocks.length; first += BLOCKS_AT_ONCE) {
      const found = (await Promise.all(blocks.slice(first, first + BLOCKS_AT_ONCE).map(prove))).flat()
      size += JSON.stringify(found).length
      if (size > BYTES_MAX) throw new DossierRefusal('too_large')
      proven.push(...found)
      await progress(Math.min(1, (first + BLOCKS_AT_ONCE) / blocks.length))
    }
    return proven
  }

  return {
    /** The basis of a dossier, where there is so much. Throws ApiError. */
    async ask(body: CreateExport, terms: MerchantTerms, through: number): Promise<DossierBasis> {
      if (!signer) throw new ApiError('invalid_state', 'This installation has no key to sign dossiers with: its operator sets DOSSIER_KEY.')
      const merchantId = terms.merchant_id
      const known = { merchantName: terms.display_name }
      if (body.entries !== undefined) {
        const named = await store.dossiers.named(merchantId, through, body.entries)
        const found = new Set(named.map(({ sequence }) => sequence))
        const missing = body.entries.filter(sequence => !found.has(sequence))
        if (missing.length > 0)
          throw refused('entries', `not standing entries of yours that are settled or direct: ${missing.slice(0, 10).join(', ')}`)
        const [chainId = null, ...more] = new Set(named.map(one => one.chainId))
        if (more.length > 0) throw refused('entries', `they are of the networks ${[chainId, ...more].join(' and ')}: make one of each`)
        return { ...known, amount: null, payoutAddress: null, entries: body.entries.toSorted((a, b) => b - a), chainId }
      }
      const wanted = parseUsdc(body.amount ?? '0')
      const chainId = body.chain_id ?? first ?? 0
      if (!networks.has(chainId)) throw refused('chain_id', `the networks here are ${[...networks.keys()].join(' and ')}`)
      const payoutAddress = body.payout_address ?? terms.payout_addresses?.[chainId] ?? terms.payout_address
      if (payoutAddress === null) throw refused('payout_address', 'you have no payout address: name the one that it left')
      const newest = await store.dossiers.newest(merchantId, through, { payoutAddress, chainId }, DOSSIER_ORIGINS_MAX + 1)
      if (!chooseByAmount(newest.slice(0, DOSSIER_ORIGINS_MAX), wanted)) throw refused('amount', whatThereIs(newest, payoutAddress))
      return { ...known, amount: wanted.toString(), payoutAddress, entries: null, chainId }
    },

    /** The file. Throws DossierRefusal where there is none to be had, and anything else where it may be tried again. */
    async file(one: LedgerExport, progress: (origins: number) => Promise<void>): Promise<{ bytes: Buffer; origins: number }> {
      const { dossier: basis, merchantId, through } = one
      if (!basis || !signer) throw new DossierRefusal('not_proven')
      const network = networkOf(basis)
      const chosen = await chosenOf(merchantId, through, basis)
      if (!chosen || chosen.length === 0) throw new Error(`The entries of dossier ${one.id} are gone`)
      const counted = countedOf(chosen)
      const stored = await store.dossiers.origins(
        merchantId,
        through,
        chosen.map(({ sequence }) => sequence),
      )
      const orderIds = [...new Set(stored.flatMap(({ orderId }) => orderId ?? []))]
      const [orders, invoicingOf] = [await store.dossiers.orders(orderIds), await store.invoicing.ofAll(orderIds)]
      const origins: OriginFacts[] = []
      for (const origin of stored) {
        const { transfers, more } =
          origin.kind === 'sweep' ? await store.dossiers.swept(origin, DOSSIER_PAYMENTS_MAX) : { transfers: [], more: 0 }
        const order = orders.get(origin.orderId ?? '')
        const facts = { origin, counted: counted.get(origin.sequence) ?? 0n, transfers, more }
        origins.push({ ...facts, order: order ? { order, invoicing: invoicingOf(order.id) } : null })
      }
      const transactions = await proofsOf(origins, network, share => progress(Math.floor(share * origins.length)))
      const dossier = dossierBody({
        ...{ id: one.id, at: one.createdAt, installation: publicUrl, basis, through, origins, transactions },
        merchant: { id: merchantId, name: (await store.merchants.nameOf(merchantId)) ?? basis.merchantName },
        ...{ network: network.network, chainId: network.chainId, tokenAddress: network.tokenAddress },
        spans: await store.merchants.provenSpans({ merchant_id: merchantId, payout_address: basis.payoutAddress }, network.chainId),
      })
      const bytes = one.format === 'dossier_pdf' ? await signedPdf(signedDossier(dossier, signer), signer) : signedFile(dossier, signer)
      if (bytes.length > BYTES_MAX) throw new DossierRefusal('too_large')
      return { bytes, origins: origins.length }
    },
  }
}

const refused = (path: string, message: string) =>
  new ApiError('invalid_request', `There is no dossier of that: ${message}.`, { errors: [{ path, message }] })

function whatThereIs(newest: readonly Reached[], payoutAddress: string): string {
  if (newest.length <= DOSSIER_ORIGINS_MAX) return `${formatUsdc(sumOf(newest))} USDC have reached ${payoutAddress}`
  const most = formatUsdc(sumOf(newest.slice(0, DOSSIER_ORIGINS_MAX)))
  return `the newest ${DOSSIER_ORIGINS_MAX.toLocaleString('en')} entries, the most that one dossier takes, come to ${most} USDC; name the others in further ones by entries`
}

function blocksOf(origins: readonly OriginFacts[]): BlockToProve[] {
  const blocks = new Map<string, { number: number; hash: string; transactions: Set<string> }>()
  for (const { origin, transfers } of origins)
    for (const { blockHash, blockNumber, txHash } of [origin, ...transfers]) {
      if (blockHash === null) throw new NotProvenError(`the hash of block ${blockNumber} is not on record`)
      const block = blocks.get(blockHash) ?? { number: blockNumber, hash: blockHash, transactions: new Set() }
      block.transactions.add(txHash)
      blocks.set(blockHash, block)
    }
  return [...blocks.values()].map(({ number, hash, transactions }) => ({ number, hash, transactions: [...transactions] }))
}
