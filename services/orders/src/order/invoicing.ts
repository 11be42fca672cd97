import { type CreateOrder, type Customer, customerOf, type FiscalDocumentInput, type OrderBody, type UpdateOrder } from '@ponte/contracts'

/** An order's customer and fiscal document: of the merchant's books, and of nothing that decides whether it is paid. */
export interface Invoicing {
  customer: Customer | null
  fiscalDocument: FiscalDocument | null
}

export interface FiscalDocument extends FiscalDocumentInput {
  setAt: Date
  /** `sub` of the user; null for a key. */
  setBy: string | null
}

export const NO_INVOICING: Invoicing = { customer: null, fiscalDocument: null }

/** A given field takes the place of what was there; undefined leaves it, null erases it. */
export type InvoicingChange = { [Part in keyof Invoicing]?: Invoicing[Part] | undefined }

export function invoicingChange({ customer, fiscal_document }: UpdateOrder, by: string | null, at: Date): InvoicingChange {
  return {
    customer: customer === undefined ? undefined : customerOf(customer),
    fiscalDocument: fiscal_document && { ...fiscal_document, setAt: at, setBy: by },
  }
}

export function newInvoicing(
  { customer, fiscal_document }: Pick<CreateOrder, 'customer' | 'fiscal_document'>,
  by: string | null,
  at: Date,
): Invoicing {
  return { customer: customerOf(customer), fiscalDocument: fiscal_document ? { ...fiscal_document, setAt: at, setBy: by } : null }
}

/** As the API shows it; what was not named is left out, so that an order without it reads as it always did. */
export const invoicingBody = ({ customer, fiscalDocument }: Invoicing): Pick<OrderBody, 'customer' | 'fiscal_document'> => ({
  ...(customer === null ? {} : { customer }),
  ...(fiscalDocument === null
    ? {}
    : {
        fiscal_document: {
          kind: fiscalDocument.kind,
          key: fiscalDocument.key,
          set_at: fiscalDocument.setAt.toISOString(),
          set_by: fiscalDocument.setBy,
        },
      }),
})
