import { webhookHandler } from '@ponte/sdk/next'
import { handledEvents, invoices } from '../../shop.js'

const on = {
  'order.paid': ({ external_ref, brl_amount, tx_hash }) => {
    const invoice = invoices.get(external_ref)
    if (invoice?.brl_amount === brl_amount) Object.assign(invoice, { status: 'paid', tx_hash })
  },
  'order.underpaid': ({ external_ref, expected, received }) => {
    const invoice = invoices.get(external_ref)
    if (invoice) Object.assign(invoice, { status: `${received} of ${expected} USDC came` })
  },
  'order.expired': ({ external_ref }) => {
    const invoice = invoices.get(external_ref)
    if (invoice) invoice.status = 'expired'
  },
}

export const POST = request =>
  webhookHandler({ secret: process.env.PONTE_WEBHOOK_SECRET, seen: handledEvents, on, onError: error => console.error(error) })(request)
