import { z } from 'zod'
import { brlAmount, brlAmountInput, description, externalRef, id, metadata, timestamp } from '../fields'
import { livemode } from '../mode'
import { parseBrl } from '../money'
import { returnUrl } from '../return-url'
import { customer, customerInput, customerOf } from './customer'
import { isOneWay, listOf, notOneWay, pageQuery } from './list'
import { orderStatus } from './order'

export const LINK_QUOTE_DEFAULT_S = 900
export const LINK_QUOTE_MIN_S = 60
export const LINK_QUOTE_MAX_S = 86_400

export const linkKind = z.enum(['invoice', 'reusable']).meta({
  description: '`invoice`: paid once, and of its orders at most one is open. `reusable`: every payer has an order of their own',
})
export const linkStatus = z.enum(['open', 'overdue', 'undecided', 'paid', 'ended']).meta({
  description:
    '`overdue`: past `due_at`, and still payable. `undecided`: money came for an order that it did not pay, so that none is opened until you accept, return or ' +
    'mark it as handled. `paid`: an invoice, or as many payments as `max_payments`. `ended`: by you.',
})
export type LinkStatus = z.infer<typeof linkStatus>

const amounts = {
  brl_amount: brlAmountInput.nullish().meta({ description: 'BRL, as a string; without it the payer chooses', example: '150.00' }),
  brl_amount_min: brlAmountInput.nullish().meta({ description: 'The least that a payer may choose', example: '10.00' }),
  brl_amount_max: brlAmountInput.nullish().meta({ description: 'The most that a payer may choose', example: '5000.00' }),
}

/** Body of `POST /api/v1/links`. Amounts are reais with at most two decimals; `quote_seconds` is how long a payer has at the rate of the moment at which they open it. */
export const createLink = z
  .strictObject({
    kind: linkKind,
    ...amounts,
    description,
    external_ref: externalRef.nullish(),
    metadata: metadata.optional(),
    due_at: timestamp.nullish().meta({ description: 'Of an invoice: when it is due. It stays payable' }),
    quote_seconds: z
      .int()
      .min(LINK_QUOTE_MIN_S)
      .max(LINK_QUOTE_MAX_S)
      .optional()
      .meta({ description: `How long an order of it may be paid; ${LINK_QUOTE_DEFAULT_S} where it is absent` }),
    customer: customerInput.nullish().meta({ description: 'Of an invoice: each order of it has it, until you erase it' }),
    max_payments: z.int().min(1).max(100_000).nullish().meta({ description: 'Of a reusable one: ends with this many that were paid' }),
    success_url: returnUrl.nullish().meta({ description: 'Where a payer is offered to go once an order of it is paid' }),
    cancel_url: returnUrl.nullish().meta({ description: 'Where a payer is offered to go without paying' }),
  })
  .refine(body => !body.brl_amount || (!body.brl_amount_min && !body.brl_amount_max), {
    path: ['brl_amount'],
    message: 'goes without brl_amount_min and brl_amount_max: fix the amount, or let the payer choose',
  })
  .refine(body => Boolean(body.brl_amount) || (Boolean(body.brl_amount_min) && Boolean(body.brl_amount_max)), {
    path: ['brl_amount'],
    message: 'is missing, or both brl_amount_min and brl_amount_max',
  })
  .refine(body => !body.brl_amount_min || !body.brl_amount_max || parseBrl(body.brl_amount_min) <= parseBrl(body.brl_amount_max), {
    path: ['brl_amount_max'],
    message: 'must be at least brl_amount_min',
  })
  .refine(body => body.kind === 'invoice' || !body.due_at, { path: ['due_at'], message: 'is of an invoice: a reusable link is never due' })
  .refine(body => body.kind === 'reusable' || !body.max_payments, {
    path: ['max_payments'],
    message: 'is of a reusable link: an invoice is paid once',
  })
  .refine(body => body.kind === 'invoice' || customerOf(body.customer) === null, {
    path: ['customer'],
    message: 'is of an invoice: the payers of a reusable link are many',
  })
export type CreateLink = z.infer<typeof createLink>

export const listLinks = z.strictObject({ ...pageQuery, external_ref: externalRef.optional() }).refine(isOneWay, notOneWay)
export type ListLinks = z.infer<typeof listLinks>

/** A link by which anyone who has it opens an order, at the rate of that moment. */
export const link = z
  .object({
    object: z.literal('link'),
    id,
    livemode: livemode.optional(),
    kind: linkKind,
    status: linkStatus,
    brl_amount: brlAmount.nullable(),
    brl_amount_min: brlAmount.nullable(),
    brl_amount_max: brlAmount.nullable(),
    description,
    external_ref: externalRef.nullable(),
    metadata,
    customer: customer.optional().meta({ description: 'Only where you named one' }),
    due_at: timestamp.nullable(),
    quote_seconds: z.int(),
    max_payments: z.int().nullable(),
    success_url: returnUrl.nullable(),
    cancel_url: returnUrl.nullable(),
    url: z.string().meta({ description: 'For payers: its holders can open an order of it' }),
    orders_paid: z.int().meta({ description: 'Orders of it that are paid' }),
    order_id: id.nullable().meta({ description: 'The last order of it; null while none was opened' }),
    created_by: z.string().nullable().meta({ description: '`sub` of the user who made it; null for a key' }),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .meta({ id: 'Link' })
export type LinkBody = z.infer<typeof link>

export const linkList = listOf(link)

export const openLink = z.strictObject({
  brl_amount: brlAmountInput.optional().meta({ description: 'Where the payer chooses the amount', example: '150.00' }),
})
export type OpenLink = z.infer<typeof openLink>

/** A payer's view of a link: nothing about the merchant but its name. Reading it opens nothing. */
export const payerLink = z
  .object({
    object: z.literal('payer_link'),
    livemode: livemode.optional(),
    merchant_name: z.string(),
    kind: linkKind,
    status: linkStatus,
    brl_amount: brlAmount.nullable(),
    brl_amount_min: brlAmount.nullable(),
    brl_amount_max: brlAmount.nullable(),
    description,
    external_ref: externalRef.nullable(),
    due_at: timestamp.nullable(),
    order: z.object({ id, status: orderStatus, checkout_url: z.string(), expires_at: timestamp }).nullable().meta({
      description: 'Of an invoice: the order that is open, or that paid it. Of a reusable link: the one that was opened just now',
    }),
  })
  .meta({ id: 'PayerLink' })
export type PayerLinkBody = z.infer<typeof payerLink>
