import { isPonteError } from '@ponte/sdk'
import { invoices, ponte } from '../../../shop.js'

export async function POST(_request, { params }) {
  const { number } = await params
  const invoice = invoices.get(number) ?? { number, brl_amount: '35.00', status: 'open' }
  invoices.set(number, invoice)
  try {
    // The invoice's number is the key: a second click, or a retry, is the same order.
    const body = { brl_amount: invoice.brl_amount, external_ref: number, description: 'One kilo of coffee' }
    const order = await ponte().orders.create(body, { idempotencyKey: `invoice-${number}` })
    return Response.redirect(order.payment.checkout_url, 303)
  } catch (error) {
    if (!isPonteError(error)) throw error
    return new Response(`Payments do not work now: ${error.detail}`, { status: 503 })
  }
}
