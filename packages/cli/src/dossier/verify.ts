import { depositAddress } from '@ponte/sdk'
import { unitsOf, usdcOf } from '../audit/amount'
import { PAYMENT_TOPIC, TRANSFER_TOPIC, topicOf } from '../audit/logs'
import { signerOf } from './personal-signature'
import { type ProvenLog, type ProvenReceipt, provenReceipt, type ReceiptProof } from './proof'

interface Payment {
  tx_hash: string
  log_index: number
  payer_address: string | null
  amount: string
}
interface Origin {
  sequence: number
  kind: string
  amount: string
  counted: string
  platform_fee: string
  payout_address: string
  tx_hash: string
  log_index: number
  router_address: string | null
  memo: string | null
  deposit_address: string | null
  payments: Payment[]
  more_payments: number
}
export interface DossierTransaction {
  tx_hash: string
  block_number: number
  block_hash: string
  block_time: string
  proof: ReceiptProof | null
}
/** A dossier as far as it is checked; it is signed, so its shape is the installation's word. */
export interface Dossier {
  object: string
  version: number
  id: string
  created_at: string
  installation: string
  merchant: { id: string; name: string }
  basis: { amount: string | null; entries: number[] | null }
  network: string
  chain_id: number
  token_address: string
  payout_addresses: { address: string; proof: { message: string; signature: string } | null }[]
  origins: Origin[]
  transactions: DossierTransaction[]
  total_usdc: string
}

/** One thing that was looked at; null where it could not be. */
export interface Check {
  what: string
  ok: boolean | null
  detail: string
}

const same = (a: string | null | undefined, b: string | null | undefined) => a?.toLowerCase() === b?.toLowerCase()
const ZERO = `0x${'0'.repeat(40)}`
const demand = (holds: boolean, otherwise: string) => {
  if (!holds) throw new Error(otherwise)
}

function checked(what: string, work: () => string | { unproven: string }): Check {
  try {
    const found = work()
    return typeof found === 'string' ? { what, ok: true, detail: found } : { what, ok: null, detail: found.unproven }
  } catch (error) {
    return { what, ok: false, detail: error instanceof Error ? error.message : String(error) }
  }
}

/** All that the dossier itself can be held against, without a question to anyone. */
export function checkDossier(dossier: Dossier): Check[] {
  const receipts = new Map<string, ProvenReceipt | null>()
  const proofs = checked('receipts', () => {
    const places = new Set<string>()
    for (const one of dossier.transactions) {
      demand(!receipts.has(one.tx_hash), `${one.tx_hash} stands twice`)
      receipts.set(one.tx_hash, null)
      if (one.proof === null) continue
      const place = `${one.block_hash} ${one.proof.receipt_index}`
      demand(!places.has(place), `${one.tx_hash} has the receipt of another transaction`)
      places.add(place)
      receipts.set(one.tx_hash, receiptOf(one))
    }
    const unproven = dossier.transactions.filter(one => one.proof === null).length
    const proven = `${dossier.transactions.length - unproven} receipts stand in their blocks`
    return unproven === 0 ? proven : { unproven: `${proven}, ${unproven} have no proof` }
  })
  const used = new Set<string>()
  return [
    checked('form', () => {
      demand(dossier.object === 'dossier' && dossier.version === 1, 'this program does not know such a dossier')
      return `dossier ${dossier.id}, ${dossier.created_at}`
    }),
    checked('sums', () => checkSums(dossier)),
    proofs,
    ...dossier.origins.map(one => checked(`entry ${one.sequence}`, () => checkOrigin(dossier, one, receipts, used))),
    ...dossier.payout_addresses.map(one => checked(`payout ${one.address}`, () => checkPayout(dossier, one))),
  ]
}

function receiptOf({ tx_hash, block_hash, block_number, block_time, proof }: DossierTransaction): ProvenReceipt | null {
  if (!proof) return null
  try {
    const found = provenReceipt(proof, block_hash)
    demand(found.number === block_number, `its block is number ${found.number}`)
    demand(new Date(found.time * 1_000).toISOString() === block_time, 'its block has another time')
    return found
  } catch (error) {
    throw new Error(`${tx_hash}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function checkSums({ origins, basis, total_usdc, payout_addresses, transactions }: Dossier): string {
  const places = new Set(origins.map(one => `${one.tx_hash} ${one.log_index}`))
  demand(places.size === origins.length, 'a log stands twice')
  const sequences = origins.map(one => one.sequence)
  demand(
    sequences.every((sequence, index) => index === 0 || sequence < (sequences[index - 1] ?? 0)),
    'the entries are not in their order',
  )
  const hashes = new Set(transactions.map(one => one.tx_hash))
  let total = 0n
  for (const [index, one] of origins.entries()) {
    const [amount, counted] = [unitsOf(one.amount), unitsOf(one.counted)]
    const mayBePart = basis.amount !== null && index === origins.length - 1
    demand(counted > 0n && (mayBePart ? counted <= amount : counted === amount), `entry ${one.sequence} counts as another sum than it is`)
    demand(
      payout_addresses.some(({ address }) => same(address, one.payout_address)),
      `the payout address of entry ${one.sequence} is not listed`,
    )
    demand(
      [one, ...one.payments].every(({ tx_hash }) => hashes.has(tx_hash)),
      `a transaction of entry ${one.sequence} is not listed`,
    )
    total += counted
  }
  demand(total === unitsOf(total_usdc), `the origins come to ${usdcOf(total)}`)
  if (basis.amount !== null) demand(total === unitsOf(basis.amount), `the amount is ${basis.amount}`)
  else demand(String(basis.entries) === String(sequences), 'these are not the entries that were named')
  return `${origins.length} origins come to ${total_usdc} USDC`
}

type Receipts = ReadonlyMap<string, ProvenReceipt | null>

function checkOrigin(dossier: Dossier, origin: Origin, receipts: Receipts, used: Set<string>): string | { unproven: string } {
  const [share, fee] = [unitsOf(origin.amount), unitsOf(origin.platform_fee)]
  const logAt = (place: Pick<Payment, 'tx_hash' | 'log_index'>) => logOf(dossier, receipts, place)
  const named = origin.payments.reduce((sum, { amount }) => sum + unitsOf(amount), 0n)
  const [own] = origin.payments
  if (origin.kind === 'sweep') {
    const { router_address: router, memo, deposit_address: deposit } = origin
    demand(router !== null && memo !== null && deposit !== null, 'a sweep has a router, a memo and a deposit address')
    const worked = depositAddress({ router: router ?? '', memo: memo ?? '', payoutAddress: origin.payout_address })
    demand(same(worked, deposit), `the deposit address of its memo is ${worked}`)
    const isWhole = origin.more_payments === 0 && origin.payments.length > 0
    demand(isWhole ? named === share + fee : named <= share + fee, `its payments come to ${usdcOf(named)}`)
  } else {
    demand(origin.payments.length === 1 && origin.more_payments === 0 && named === share + fee, 'its payment is another sum')
    demand(own?.tx_hash === origin.tx_hash && own.log_index === origin.log_index, 'its payment is another log')
  }
  const log = logAt(origin)
  if (log === null) return { unproven: 'its receipt has no proof' }
  if (origin.kind === 'direct') {
    requireTransfer(log, dossier.token_address, own?.payer_address ?? ZERO, origin.payout_address, share)
    takeOnce(used, origin)
  } else {
    requirePaymentReceived(log, origin, origin.kind === 'sweep' ? origin.deposit_address : (own?.payer_address ?? null))
    takeShare(dossier, origin, receipts, used)
  }
  if (origin.kind === 'sweep')
    for (const one of origin.payments) {
      takeOnce(used, one)
      const paid = logAt(one)
      if (paid === null) return { unproven: 'a payment has no proof' }
      requireTransfer(paid, dossier.token_address, one.payer_address ?? ZERO, origin.deposit_address ?? '', unitsOf(one.amount))
    }
  const payers = [...new Set(origin.payments.map(one => one.payer_address ?? 'a mint'))]
  return `${origin.counted} of ${origin.amount} USDC, ${origin.kind}, from ${payers.join(', ') || 'payers that are not on record'}`
}

function takeOnce(used: Set<string>, { tx_hash, log_index }: Pick<Payment, 'tx_hash' | 'log_index'>): void {
  const place = `${tx_hash} ${log_index}`
  demand(!used.has(place), `the log ${log_index} of ${tx_hash} counts twice`)
  used.add(place)
}

/** A log by its place in the block; null where there is no proof of its receipt. */
function logOf(dossier: Dossier, receipts: Receipts, { tx_hash, log_index }: Pick<Payment, 'tx_hash' | 'log_index'>): ProvenLog | null {
  const proof = dossier.transactions.find(one => one.tx_hash === tx_hash)?.proof
  const receipt = receipts.get(tx_hash)
  if (!proof || !receipt) return null
  const log = receipt.logs[log_index - proof.first_log_index]
  if (!log) throw new Error(`the receipt of ${tx_hash} has no log ${log_index}`)
  return log
}

function requireTransfer(log: ProvenLog, token: string, from: string, to: string, units: bigint): void {
  const [topic, ...parties] = log.topics
  demand(same(log.address, token) && topic === TRANSFER_TOPIC, 'its log is no transfer of the token')
  demand(parties[0] === topicOf(from) && parties[1] === topicOf(to), 'the transfer is between others')
  demand(BigInt(log.data) === units, `the transfer is of ${usdcOf(BigInt(log.data))}`)
}

function requirePaymentReceived(log: ProvenLog, origin: Origin, payer: string | null): void {
  const { router_address, memo, payout_address, amount, platform_fee } = origin
  demand(same(log.address, router_address) && log.topics[0] === PAYMENT_TOPIC, 'its log is not one of the router')
  demand(log.topics[1] === `0x${memo}`, 'the log has another memo')
  demand(log.topics[2] === topicOf(payout_address), 'the log pays another address')
  demand(log.topics[3] === topicOf(payer ?? ZERO), 'the log has another payer')
  demand(BigInt(log.data.slice(0, 66)) === unitsOf(amount), 'the log has another amount')
  demand(BigInt(`0x${log.data.slice(66)}`) === unitsOf(platform_fee), 'the log has another fee')
}

/** Any contract can emit a router's log: the share moved in the same receipt, and each transfer is the share of one origin. */
function takeShare(dossier: Dossier, origin: Origin, receipts: Receipts, used: Set<string>): void {
  const first = dossier.transactions.find(one => one.tx_hash === origin.tx_hash)?.proof?.first_log_index ?? 0
  const logs = receipts.get(origin.tx_hash)?.logs ?? []
  const isShare = ({ address, topics, data }: ProvenLog, index: number) =>
    index < origin.log_index - first &&
    same(address, dossier.token_address) &&
    topics[0] === TRANSFER_TOPIC &&
    topics[2] === topicOf(origin.payout_address) &&
    BigInt(data) === unitsOf(origin.amount) &&
    !used.has(`${origin.tx_hash} ${index + first}`)
  const at = logs.findLastIndex(isShare)
  demand(at >= 0, 'no transfer of its amount reached the payout address')
  used.add(`${origin.tx_hash} ${at + first}`)
}

function checkPayout({ merchant }: Dossier, { address, proof }: Dossier['payout_addresses'][number]): string | { unproven: string } {
  if (proof === null) return { unproven: 'set without a signature of its key' }
  demand(same(signerOf(proof.message, proof.signature), address), 'the signature is of another key')
  const text = proof.message.toLowerCase()
  demand(
    text.includes(address.toLowerCase()) && text.includes(merchant.id.toLowerCase()),
    'what was signed does not name it and the merchant',
  )
  return 'its key signed for this merchant'
}
