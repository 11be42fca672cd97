import {
  type EntryBody,
  type EntryKind,
  type FiscalDocumentKey,
  formatBrl,
  formatRate,
  formatUsdc,
  type LedgerAccount,
  type SummaryFigures,
} from '@ponte/contracts'
import { cursorAt, cursorText, type NumberedHistory } from '@ponte/service-kit'
import type { PtaxRate } from '../quote/ptax'
import { centavosAt } from './centavos'

export interface Entry {
  sequence: number
  kind: EntryKind
  units: bigint
  brlCentavos: bigint | null
  orderId: string | null
  reverses: number | null
  at: Date
  chainId: number
  txHash: string
  logIndex: number
  blockNumber: bigint
  blockTime: Date
  payerAddress: string | null
  address: string | null
  reason: string | null
  bookedAt: Date
  /** Our median at the time of its block; null where there was none. */
  marketRateMicros: bigint | null
  /** Of its block's civil day in São Paulo, or the last one before a day without; null until it is known. */
  ptax: PtaxRate | null
  /** Of its order, as it is named now. */
  fiscalDocument: FiscalDocumentKey | null
}

/** A payout address on a network, with what reached and left it of the entries in a file. */
export interface PayoutAccount {
  chainId: number
  address: string
  from: Date
  to: Date
  /** The sum of its movements. */
  units: bigint
}

/** Every entry is a transfer between two accounts, so each is balanced in units and in centavos. */
export const ACCOUNTS: Record<EntryKind, readonly [from: LedgerAccount, to: LedgerAccount]> = {
  payment: ['payer', 'received'],
  unmatched: ['payer', 'received'],
  direct: ['payer', 'payout'],
  fee: ['received', 'platform'],
  settled: ['received', 'payout'],
  accepted: ['payer', 'given_away'],
  returned: ['payout', 'payer'],
}

/** Balances of the accounts by these entries; they sum to nothing. */
export function balances(entries: readonly Pick<Entry, 'kind' | 'units'>[]): Record<LedgerAccount, bigint> {
  const held: Record<LedgerAccount, bigint> = { payer: 0n, received: 0n, platform: 0n, payout: 0n, given_away: 0n }
  for (const { kind, units } of entries) {
    const [from, to] = ACCOUNTS[kind]
    held[from] -= units
    held[to] += units
  }
  return held
}

/** The sum of the entries of one kind; one that was taken back counts for nothing. */
export interface KindSum {
  kind: EntryKind
  movements: number
  units: bigint
  brlCentavos: bigint
}

/** The figures that pages, files and answers show, each with its basis in its name. */
export function figuresOf(sums: readonly KindSum[]): SummaryFigures {
  const of = (...kinds: EntryKind[]) => sums.filter(({ kind }) => kinds.includes(kind))
  const units = (...kinds: EntryKind[]) => of(...kinds).reduce((total, sum) => total + sum.units, 0n)
  const payments = of('payment')
  const [gross, fee, settled] = [units('payment', 'unmatched', 'direct'), units('fee'), units('settled', 'direct')]
  return {
    payments: payments.reduce((total, { movements }) => total + movements, 0),
    brl_amount: formatBrl(payments.reduce((total, { brlCentavos }) => total + brlCentavos, 0n)),
    gross: formatUsdc(gross),
    platform_fee: formatUsdc(fee),
    settled: formatUsdc(settled),
    waiting: formatUsdc(gross - fee - settled),
    unmatched: formatUsdc(units('unmatched')),
    returned: formatUsdc(units('returned')),
    given_away: formatUsdc(units('accepted')),
  }
}

/** An entry as merchants read it, with its place in the history of their numbers. */
export const entryBody =
  (history: NumberedHistory) =>
  (entry: Entry): EntryBody => {
    const [from, to] = ACCOUNTS[entry.kind]
    return {
      object: 'entry',
      sequence: entry.sequence,
      cursor: cursorText(cursorAt(history, entry.sequence)),
      kind: entry.kind,
      amount: formatUsdc(entry.units),
      brl_amount: entry.brlCentavos === null ? null : formatBrl(entry.brlCentavos),
      market_rate: rate(entry.marketRateMicros),
      market_brl_amount: entry.marketRateMicros === null ? null : formatBrl(centavosAt(entry.units, entry.marketRateMicros)),
      ptax_rate: rate(entry.ptax?.rateMicros ?? null),
      ptax_date: entry.ptax?.day ?? null,
      from_account: from,
      to_account: to,
      order_id: entry.orderId,
      reverses: entry.reverses,
      at: entry.at.toISOString(),
      block_time: entry.blockTime.toISOString(),
      booked_at: entry.bookedAt.toISOString(),
      chain_id: entry.chainId,
      tx_hash: entry.txHash,
      log_index: entry.logIndex,
      block_number: Number(entry.blockNumber),
      payer_address: entry.payerAddress,
      address: entry.address,
      reason: entry.reason,
      ...(entry.fiscalDocument === null ? {} : { fiscal_document: entry.fiscalDocument }),
    }
  }

const rate = (micros: bigint | null) => (micros === null ? null : formatRate(micros))
