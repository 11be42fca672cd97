import { isPonteError, Ponte } from '@ponte/sdk'
import { webhookHandler } from '@ponte/sdk/express'
import express from 'express'

// A shop with one product. Invoices stand in memory here; in a real shop they and the keys of handled events stand in one database.

const { PONTE_URL, PONTE_API_KEY, PONTE_WEBHOOK_SECRET, PORT = '3000' } = process.env
const ponte = new Ponte(PONTE_API_KEY, { baseUrl: PONTE_URL })
const invoices = new Map()

const app = express()

app.post(
  '/webhooks',
  webhookHandler({
    secret: PONTE_WEBHOOK_SECRET,
    seen: new Set(),
    on: {
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
    },
    onError: error => console.error(error),
  }),
)

app.post('/buy/:number', async (request, response) => {
  const { number } = request.params
  const invoice = invoices.get(number) ?? { number, brl_amount: '35.00', status: 'open' }
  invoices.set(number, invoice)
  try {
    // The invoice's number is the key: a second click, or a retry, is the same order.
    const body = { brl_amount: invoice.brl_amount, external_ref: number, description: 'One kilo of coffee' }
    const order = await ponte.orders.create(body, { idempotencyKey: `invoice-${number}` })
    response.redirect(303, order.payment.checkout_url)
  } catch (error) {
    if (!isPonteError(error)) throw error
    response.status(503).send(`Payments do not work now: ${error.detail}`)
  }
})

app.get('/invoices/:number', (request, response) => {
  const invoice = invoices.get(request.params.number)
  response.status(invoice ? 200 : 404).json(invoice ?? { status: 'unknown' })
})

app.listen(Number(PORT), '127.0.0.1', () => console.log(`The shop is at http://127.0.0.1:${PORT}`))
