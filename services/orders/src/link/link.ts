import {
  ApiError,
  type CreateLink,
  type Customer,
  formatBrl,
  invalidField,
  LINK_QUOTE_DEFAULT_S,
  type LinkBody,
  type LinkStatus,
  type MerchantTerms,
  type OrderStatus,
  type PayerLinkBody,
  parseBrl,
} from '@ponte/contracts'

/** A link by which payers open orders: what they ask for is fixed, what it costs in USDC is quoted when one is opened. Pure, time handed in. */
export interface Link {
  id: string
  merchantId: string
  /** The merchant's terms when it was made; an order takes newer ones that are known. */
  terms: MerchantTerms
  /** The secret at the end of its URL. */
  payerToken: string
  kind: 'invoice' | 'reusable'
  /** Null where the payer chooses, between the two. */
  brlCentavos: bigint | null
  minCentavos: bigint | null
  maxCentavos: bigint | null
  description: string
  externalRef: string | null
  metadata: Record<string, string>
  dueAt: Date | null
  quoteSeconds: number
  maxPayments: number | null
  successUrl: string | null
  cancelUrl: string | null
  createdBy: string | null
  createdAt: Date
  endedAt: Date | null
}

export interface LinkedOrder {
  id: string
  status: OrderStatus
  expiresAt: Date
}

/** Orders of a link, by their states. */
export interface LinkFacts {
  paid: number
  /** The last one. */
  newest: LinkedOrder | null
  /** Of an invoice: the first that was paid. */
  paidBy: LinkedOrder | null
  /** Of an invoice: the last that may still be paid in time. */
  payable: LinkedOrder | null
  /** Of an invoice: one that ended unpaid although money came for it. */
  undecided: LinkedOrder | null
}

export const NO_ORDERS: LinkFacts = { paid: 0, newest: null, paidBy: null, payable: null, undecided: null }

/** With the orders of a reusable link that wait for their payers. */
export interface OpeningFacts extends LinkFacts {
  open: number
}

/** Orders of a reusable link that wait for their payers at a time: a stranger opens no more. */
const OPEN_MAX = 200

export function newLink(
  { id, terms, payerToken, createdBy }: Pick<Link, 'id' | 'terms' | 'payerToken' | 'createdBy'>,
  body: CreateLink,
  at: Date,
): Link {
  const centavos = (amount: string | null | undefined) => (amount ? parseBrl(amount) : null)
  return {
    ...{ id, merchantId: terms.merchant_id, terms, payerToken, createdBy },
    kind: body.kind,
    brlCentavos: centavos(body.brl_amount),
    minCentavos: centavos(body.brl_amount_min),
    maxCentavos: centavos(body.brl_amount_max),
    description: body.description,
    externalRef: body.external_ref ?? null,
    metadata: body.metadata ?? {},
    dueAt: body.due_at ? new Date(body.due_at) : null,
    quoteSeconds: body.quote_seconds ?? LINK_QUOTE_DEFAULT_S,
    maxPayments: body.max_payments ?? null,
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    createdAt: at,
    endedAt: null,
  }
}

export function linkStatus(link: Link, facts: LinkFacts, at: Date): LinkStatus {
  const isPaid = link.kind === 'invoice' ? facts.paid > 0 : link.maxPayments !== null && facts.paid >= link.maxPayments
  if (isPaid) return 'paid'
  if (link.endedAt !== null) return 'ended'
  // Of a reusable link it is the case of one payer, and keeps no other from paying.
  if (link.kind === 'invoice' && facts.undecided !== null) return 'undecided'
  return link.dueAt !== null && at > link.dueAt ? 'overdue' : 'open'
}

/** The order that a payer of an invoice is led to instead of a new one: the one that paid it, or that may still do so. */
export const standingOrder = ({ kind }: Link, { paidBy, payable }: LinkFacts): LinkedOrder | null =>
  kind === 'invoice' ? (paidBy ?? payable) : null

/** Throws `invalid_state` where this link opens no order. */
export function requireOpening(link: Link, facts: OpeningFacts, at: Date): void {
  const status = linkStatus(link, facts, at)
  if (status === 'paid') throw new ApiError('invalid_state', 'This link is paid: no order is opened by it any more.')
  if (status === 'ended') throw new ApiError('invalid_state', 'The shop has ended this link: ask it for another one.')
  if (status === 'undecided')
    throw new ApiError('invalid_state', 'Money has come for this link already, and the shop has to decide about it: ask the shop.')
  if (link.kind === 'reusable' && facts.open >= OPEN_MAX)
    throw new ApiError('invalid_state', `${OPEN_MAX} orders of this link wait for their payers: try again in a few minutes.`)
}

/** The amount of an order: the link's, or the payer's choice. Throws `invalid_request` outside the bounds. */
export function chosenCentavos({ brlCentavos, minCentavos, maxCentavos }: Link, asked: string | undefined): bigint {
  if (brlCentavos !== null) {
    if (asked === undefined || parseBrl(asked) === brlCentavos) return brlCentavos
    throw wrongAmount(`is fixed by this link: ${formatBrl(brlCentavos)}`)
  }
  const [least, most] = [minCentavos ?? 0n, maxCentavos ?? 0n]
  const chosen = asked === undefined ? null : parseBrl(asked)
  if (chosen === null || chosen < least || chosen > most)
    throw wrongAmount(`must be chosen between ${formatBrl(least)} and ${formatBrl(most)}`)
  return chosen
}

const wrongAmount = (message: string) => invalidField('brl_amount', message)

/** Where links are shown. */
export interface LinkPlace {
  livemode: boolean
  publicUrl: string
}

const amountsOf = ({ brlCentavos, minCentavos, maxCentavos }: Link) => {
  const reais = (centavos: bigint | null) => (centavos === null ? null : formatBrl(centavos))
  return { brl_amount: reais(brlCentavos), brl_amount_min: reais(minCentavos), brl_amount_max: reais(maxCentavos) }
}

export const linkBody = (link: Link, facts: LinkFacts, customer: Customer | null, place: LinkPlace, at: Date): LinkBody => ({
  object: 'link',
  id: link.id,
  livemode: place.livemode,
  kind: link.kind,
  status: linkStatus(link, facts, at),
  ...amountsOf(link),
  description: link.description,
  external_ref: link.externalRef,
  metadata: link.metadata,
  ...(customer === null ? {} : { customer }),
  due_at: link.dueAt?.toISOString() ?? null,
  quote_seconds: link.quoteSeconds,
  max_payments: link.maxPayments,
  success_url: link.successUrl,
  cancel_url: link.cancelUrl,
  url: `${place.publicUrl}/pay/link/${link.payerToken}`,
  orders_paid: facts.paid,
  order_id: facts.newest?.id ?? null,
  created_by: link.createdBy,
  created_at: link.createdAt.toISOString(),
  ended_at: link.endedAt?.toISOString() ?? null,
})

/** `opened` is the order that the payer has opened just now. */
export function payerLinkBody(
  link: Link,
  facts: LinkFacts,
  { merchantName, place, at, opened = null }: { merchantName: string; place: LinkPlace; at: Date; opened?: LinkedOrder | null },
): PayerLinkBody {
  const order = opened ?? standingOrder(link, facts)
  return {
    object: 'payer_link',
    livemode: place.livemode,
    merchant_name: merchantName,
    kind: link.kind,
    status: linkStatus(link, facts, at),
    ...amountsOf(link),
    description: link.description,
    external_ref: link.externalRef,
    due_at: link.dueAt?.toISOString() ?? null,
    order: order && {
      ...{ id: order.id, status: order.status, checkout_url: `${place.publicUrl}/pay/${order.id}` },
      expires_at: order.expiresAt.toISOString(),
    },
  }
}
