import { c, program, type Section, shell } from '../section'
import { client, order } from './programs/client'
import { firstReceiver } from './programs/receivers'

/** From nothing to a verified webhook, in an empty folder. `base` is the URL of this gateway. */
export const quickstart = (base: string, apiKey?: string): Section[] => [
  {
    id: 'key',
    title: '1. A key',
    html: `<p>${
      apiKey
        ? 'This is the key of the sample merchant that <code>npm start</code> made here; its money costs nothing.'
        : "On a machine of your own, <code>npm start</code> in a clone prints the API key, the webhook secret and a payer whose money costs nothing, and this page shows the key there. Elsewhere your merchant's user finds both in the dashboard."
    } The key is for servers: with it one can create and cancel orders.</p>${shell(`export PONTE_URL=${base}
export PONTE_API_KEY=${apiKey ?? 'sk_live_…'}`)}<p>In an empty folder, with Node 22.18 or newer, which runs TypeScript as it stands. Python and PHP need no library of ours, and ${c('npx')} alone brings them the command line.</p>${shell(
      'npm install @ponte/sdk @ponte/cli\nnpm pkg set type=module',
    )}`,
  },
  {
    id: 'order',
    title: '2. An order',
    html: `<p>What the programs of these pages call the API with. It tries again where that repeats nothing.</p>${program('ponte', client)}
<p>The <code>Idempotency-Key</code> names what you want, not the attempt: use your invoice's number. Sent again after a lost answer, it gives the same order. A key made of the time makes a
second order.</p>${program('order', order)}${shell(`curl -s $PONTE_URL/api/v1/orders \\
  -H "Authorization: Bearer $PONTE_API_KEY" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: INV-7' \\
  -d '{"brl_amount":"150.00","external_ref":"INV-7"}'`)}<p>The answer fixes the price in USDC until <code>expires_at</code>. Send the payer to <code>payment.checkout_url</code>, which is what the program prints.</p>`,
  },
  {
    id: 'webhook',
    title: '3. A receiver of webhooks',
    html: `<p>On a laptop, <code>ponte listen</code> pulls your events and posts them to your program, signed with a secret that it prints. It needs no open port, and what comes while it is away is forwarded
afterwards.</p>${shell('npx @ponte/cli listen --forward-to http://127.0.0.1:3000/webhooks')}<p>In another terminal, with that secret as ${c(
      'PONTE_WEBHOOK_SECRET',
    )}:</p>${program('webhook', firstReceiver)}<p>In production set <code>webhook_url</code> in the dashboard; the rest stays the same. <a href="/docs/webhooks">The rules of a receiver</a> are five.</p>`,
  },
  {
    id: 'pay',
    title: '4. A payment',
    html: `<p>On a <a href="/docs/testing">test deployment</a> the sample payer pays, by a real transaction of the test chain: give the link that the order's program printed.</p>${shell(
      'npx @ponte/cli pay "$CHECKOUT_URL"',
    )}<p>A moment later the receiver prints <code>order.paid</code>: its signature was verified. With <code>npm start</code>, the button below the checkout pays as well. There the centavos of the amount choose what happens, always the same:</p>
<table><thead><tr><th>Amount ends in</th><th>What is paid</th><th>Events</th></tr></thead><tbody>
<tr><td><code>.01</code></td><td>half</td><td><code>order.underpaid</code></td></tr>
<tr><td><code>.02</code></td><td>one USDC too much</td><td><code>order.paid</code>, <code>order.overpaid</code></td></tr>
<tr><td><code>.03</code></td><td>all, after it has expired (create it with <code>"expires_in": 10</code>)</td><td><code>order.expired</code>, <code>order.paid_late</code></td></tr>
<tr><td><code>.04</code></td><td>all, twice</td><td><code>order.paid</code>, <code>order.duplicate</code></td></tr>
<tr><td><code>.05</code></td><td>two halves</td><td><code>order.underpaid</code> when the first is confirmed alone, <code>order.paid</code></td></tr>
<tr><td><code>.06</code></td><td>all; when it is confirmed, the network takes the block back</td><td><code>order.paid</code>; then <code>pending</code> again with the exception <code>reorged</code>, and in <a href="/docs/api/orders#listattention"><code>/attention</code></a></td></tr>
<tr><td><code>.07</code></td><td>all, by transfer; the issuer of USDC blocks the address before the money moves on</td><td><code>order.paid</code> without <code>order.settled</code>, and <code>settlement_blocked</code> in <code>/attention</code></td></tr>
</tbody></table><p>Next: <a href="/docs/production">what is left before real money</a>.</p>`,
  },
]
