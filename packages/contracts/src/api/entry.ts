import { z } from 'zod'
import { address, id, rate, timestamp, txHash } from '../fields'
import { cursor, cursorInQuery } from './cursor'
import { fiscalDocumentKey } from './fiscal-document'
import { pageQuery } from './list'
import { chainIdInQuery } from './network'

/** An amount that a reversal makes negative. */
export const signedUsdc = z
  .string()
  .regex(/^-?\d+\.\d{6}$/)
  .meta({ description: 'USDC, six decimals; negative where it is taken back', example: '27.675277' })
export const signedBrl = z
  .string()
  .regex(/^-?\d+\.\d{2}$/)
  .meta({ description: 'BRL, two decimals; negative where it is taken back', example: '150.00' })

export const entryKind = z.enum(['payment', 'unmatched', 'direct', 'fee', 'settled', 'accepted', 'returned']).meta({
  description:
    '`payment`: came for an order. `unmatched`: came for none. `direct`: a plain transfer to the payout address. `fee`: the platform’s. `settled`: reached the payout address. ' +
    '`accepted`: what was missing of an order that you accepted, or that was short by more than a cent within its `payment_tolerance`, and is given away; no money moved. `returned`: went back from your payout address by a refund.',
})
export type EntryKind = z.infer<typeof entryKind>

/** Between which places it moved; `given_away` is no place: it is what a payer does not owe any more. */
export const ledgerAccount = z.enum(['payer', 'received', 'platform', 'payout', 'given_away'])
export type LedgerAccount = z.infer<typeof ledgerAccount>

/** One movement of money. It is never changed: what did not happen after all is taken back by another one with the opposite amount. */
export const entry = z.object({
  object: z.literal('entry'),
  sequence: z.int().meta({ description: 'Counts your entries without gaps' }),
  cursor: cursor.meta({ description: 'To go on after this entry: `after` takes it' }),
  kind: entryKind,
  amount: signedUsdc,
  brl_amount: signedBrl.nullable().meta({ description: 'At the quote of the order; null without one' }),
  market_rate: rate.nullable().meta({
    description: 'BRL per USDC at `block_time`: the median of our own sources, at most 15 minutes old; null where there was none',
  }),
  market_brl_amount: signedBrl.nullable().meta({ description: '`amount` at `market_rate`' }),
  ptax_rate: rate.nullable().meta({
    description: 'BRL per US dollar, selling, as the central bank published it for `ptax_date`; null until then. Nothing is settled by it.',
  }),
  ptax_date: z.iso
    .date()
    .nullable()
    .meta({ description: 'The civil day of `block_time` in São Paulo, or the last one before a day without PTAX' }),
  from_account: ledgerAccount,
  to_account: ledgerAccount,
  order_id: id.nullable(),
  reverses: z.int().nullable().meta({ description: 'The sequence of the entry that this one takes back' }),
  at: timestamp.meta({ description: 'When it counts: `block_time`, or `booked_at` when the month of `block_time` was closed by then' }),
  block_time: timestamp,
  booked_at: timestamp,
  chain_id: z.int(),
  tx_hash: txHash,
  log_index: z.int(),
  block_number: z.int(),
  payer_address: address.nullable(),
  address: address
    .nullable()
    .meta({ description: 'Where it went: a deposit address, your payout address of that time, or the payee of a refund' }),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why it counts for no order, was accepted (`payment_tolerance`: by itself, within it) or went back' }),
  fiscal_document: fiscalDocumentKey
    .optional()
    .meta({ description: 'Of its order, as it is named now; only where it has one. It is no part of the entry, which never changes' }),
})
export type EntryBody = z.infer<typeof entry>

/** Answer of `GET /api/v1/entries`; `next_cursor` is where the next request begins, also when there was nothing. */
export const entryList = z.object({
  object: z.literal('list'),
  data: z.array(entry),
  has_more: z.boolean(),
  next_cursor: cursor.meta({ description: 'Send it as `after` to go on' }),
  next_after: z.int().meta({ description: 'The sequence of `next_cursor`' }),
})
export type EntryListBody = z.infer<typeof entryList>

export const entryFilters = {
  at_gte: timestamp.optional(),
  at_lt: timestamp.optional(),
  kind: entryKind.optional(),
  order_id: id.optional(),
  chain_id: chainIdInQuery.optional().meta({ description: 'On this network' }),
}

/** Decimal signs, times and heads of a file for spreadsheets. */
export const fileForm = z
  .enum(['international', 'brazilian'])
  .meta({ description: '`brazilian`: decimal commas, the times of São Paulo and heads in Portuguese; as CSV with semicolons' })
export type FileForm = z.infer<typeof fileForm>

/** Query of `GET /api/v1/entries`: oldest first, by sequence, or by `at` in a range of time. */
export const listEntries = z.strictObject({
  ...entryFilters,
  limit: pageQuery.limit,
  after: cursorInQuery.optional(),
})
export type ListEntries = z.infer<typeof listEntries>

export const exportEntries = z.strictObject({ ...entryFilters, form: fileForm.default('international') })
