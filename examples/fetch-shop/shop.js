import { isPonteError, Ponte } from '@ponte/sdk'
import { webhookHandler } from '@ponte/sdk/fetch'

// One file for Bun, Deno and Workers. Invoices stand in memory here; in a real shop they and the keys of handled events stand in one database.

function createShop({ PONTE_URL, PONTE_API_KEY, PONTE_WEBHOOK_SECRET }) {
  const ponte = new Ponte(PONTE_API_KEY, { baseUrl: PONTE_URL })
  const invoices = new Map()

  const receive = webhookHandler({
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
  })

  const buy = async number => {
    const invoice = invoices.get(number) ?? { number, brl_amount: '35.00', status: 'open' }
    invoices.set(number, invoice)
    try {
      // The invoice's number is the key: a second click, or a retry, is the same order.
      const body = { brl_amount: invoice.brl_amount, external_ref: number, description: 'One kilo of coffee' }
      const order = await ponte.orders.create(body, { idempotencyKey: `invoice-${number}` })
      return Response.redirect(order.payment.checkout_url, 303)
    } catch (error) {
      if (!isPonteError(error)) throw error
      return new Response(`Payments do not work now: ${error.detail}`, { status: 503 })
    }
  }

  return async request => {
    const [, room, number] = new URL(request.url).pathname.split('/')
    if (room === 'webhooks') return receive(request)
    if (room === 'buy' && request.method === 'POST') return buy(number)
    if (room !== 'invoices') return new Response('not found', { status: 404 })
    const invoice = invoices.get(number)
    return Response.json(invoice ?? { status: 'unknown' }, { status: invoice ? 200 : 404 })
  }
}

let shop

export default {
  // Workers hand their settings over with the request; Bun and Deno have them in the environment.
  fetch(request, settings) {
    shop ??= createShop(settings?.PONTE_URL ? settings : process.env)
    return shop(request)
  },
}
