import { z } from 'zod'
import { email, text } from '../fields'
import { isTaxId, normalizeTaxId } from '../tax-id'

const taxIdInput = z
  .string()
  .max(40, 'must have at most 40 characters')
  .overwrite(normalizeTaxId)
  .refine(isTaxId, 'must be a CPF or CNPJ with right check digits')
  .meta({ description: 'CPF or CNPJ, with or without points and strokes; answers have it without', example: '12345678909' })

const name = text(200).meta({ example: 'Ana Souza' })
const RESIDENT = 'Whether the customer is resident in Brazil; null where that is not known'

/** The customer of an order, a payment link or a subscription as a merchant gives it: everything is optional, and nothing of it is needed to pay. */
export const customerInput = z
  .strictObject({
    name: name.nullish(),
    email: email.nullish(),
    tax_id: taxIdInput.nullish(),
    resident: z.boolean().nullish().meta({ description: RESIDENT }),
  })
  .meta({ description: 'Of your books; no payer sees it, and no event carries it' })
export type CustomerInput = z.infer<typeof customerInput>

export const customer = z.object({
  name: z.string().nullable(),
  email: z.string().nullable(),
  tax_id: z.string().nullable().meta({ description: 'CPF (11 characters) or CNPJ (14)' }),
  resident: z.boolean().nullable().meta({ description: RESIDENT }),
})
export type Customer = z.infer<typeof customer>

/** Null where nothing is known of it. */
export function customerOf(input: CustomerInput | null | undefined): Customer | null {
  const { name = null, email = null, tax_id = null, resident = null } = input ?? {}
  return name === null && email === null && tax_id === null && resident === null ? null : { name, email, tax_id, resident }
}

export const eraseCustomers = z
  .strictObject({ tax_id: taxIdInput.optional(), email: email.optional() })
  .refine(({ tax_id, email }) => tax_id !== undefined || email !== undefined, { path: ['tax_id'], message: 'or email must be sent' })
export type EraseCustomers = z.infer<typeof eraseCustomers>

export const customerErasure = z
  .object({
    object: z.literal('customer_erasure'),
    orders: z.int().meta({ description: 'Orders whose customer was erased' }),
    links: z.int().meta({ description: 'Payment links whose customer was erased' }),
    subscriptions: z.int().meta({ description: 'Subscriptions whose customer was erased' }),
  })
  .meta({ id: 'CustomerErasure', example: { object: 'customer_erasure', orders: 3, links: 1, subscriptions: 1 } })
export type CustomerErasureBody = z.infer<typeof customerErasure>

/** An owner's part of it. */
export interface ErasedCustomers {
  erased: number
  /** Payment links, where the owner has them. A release before has none. */
  erased_links?: number
}
