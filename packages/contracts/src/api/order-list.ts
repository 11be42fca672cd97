import { z } from 'zod'
import { address, brlAmountInput, externalRef, id, memo, text, timestamp, txHash } from '../fields'
import { isOneWay, notOneWay, pageQuery, searchedListOf } from './list'
import { chainIdInQuery } from './network'
import { order, orderException, orderStatus } from './order'

const SEARCH_LENGTH_MAX = 100
/** A link to a transaction in a sentence is longer than that. */
export const QUOTATION_LENGTH_MAX = 300

const searched = text(SEARCH_LENGTH_MAX)

/** Filters of a list, and of a file of all its pages. */
const filters = {
  status: orderStatus.optional(),
  exception: orderException.optional(),
  external_ref: externalRef.optional(),
  subscription_id: id.optional(),
  link_id: id.optional().meta({ description: 'Opened by this payment link' }),
  memo: memo.optional(),
  tx_hash: txHash.optional(),
  deposit_address: address.optional(),
  created_gte: timestamp.optional(),
  created_lt: timestamp.optional(),
  paid_gte: timestamp.optional(),
  paid_lt: timestamp.optional(),
  chain_id: chainIdInQuery.optional().meta({ description: 'With a payment on this network; with `rows=payments` those payments alone' }),
  brl_amount: brlAmountInput.optional(),
  description: searched.optional(),
  has_fiscal_document: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`false` beside `status=paid`: paid, and no fiscal document is named' }),
  text: text(QUOTATION_LENGTH_MAX).optional().meta({
    description:
      'What a message quotes of an order: its reference, id or the beginning of it, memo, transaction, deposit or payer address, a link with one of these, an amount in BRL or USDC in either notation, or words and numbers of reference, description and metadata, in any order and without accents',
  }),
}

interface PaidSpan {
  paid_gte?: string | undefined
  paid_lt?: string | undefined
}

/** A list of what was paid in a span of time is one by time of payment. */
export const isByPayment = ({ paid_gte, paid_lt }: PaidSpan): boolean => paid_gte !== undefined || paid_lt !== undefined

const onlyPaid = (query: PaidSpan & { status?: string | undefined }) => !isByPayment(query) || (query.status ?? 'paid') === 'paid'
const notPaid = { path: ['status'], message: 'must be paid beside paid_gte and paid_lt' }

export const listOrders = z
  .strictObject({ ...pageQuery, ...filters })
  .refine(isOneWay, notOneWay)
  .refine(onlyPaid, notPaid)
export type ListOrders = z.infer<typeof listOrders>

export const exportOrders = z
  .strictObject({
    ...filters,
    rows: z.enum(['orders', 'payments']).default('orders').meta({ description: 'A row per order, or per confirmed payment of one' }),
  })
  .refine(onlyPaid, notPaid)
export type ExportOrders = z.infer<typeof exportOrders>

export const orderList = searchedListOf(order)
export type OrderListBody = z.infer<typeof orderList>
