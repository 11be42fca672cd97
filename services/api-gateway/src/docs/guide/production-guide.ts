import { c, program, type Section, shell, table } from '../section'
import { events, ship, watch } from './programs/production'

export const productionGuide: Section[] = [
  {
    id: 'checklist',
    title: 'The checklist',
    html: `<ol>
<li><a href="#keys">Keys</a>: one for each program, with the scopes that it needs and no more.</li>
<li><a href="#webhooks">Webhooks</a>: the signature is verified, an event that comes twice has one effect, and the invoice is compared before the goods leave.</li>
<li><a href="#secrets">Secrets</a>: each was replaced once, without a lost webhook.</li>
<li><a href="#pull">Pull</a>: what no webhook brought is read from ${c('/events')}.</li>
<li><a href="#payout">Payout address</a>: yours alone, behind a second factor, and every order is checked against it.</li>
<li><a href="#tolerance">Tolerance</a>: you chose by how much a payment may be short.</li>
<li><a href="#exceptions">Exceptions</a>: each was played once, and your people know what to do.</li>
<li><a href="#refunds">Refunds</a>: one went back, and above your limit it took two people.</li>
<li><a href="#monitoring">Monitoring</a>: a person hears of money that waits and of webhooks that do not arrive.</li>
<li><a href="#audit">Audit</a>: the ledger was compared with your own node.</li>
<li><a href="#live">Going live</a>: the live key is in the live server and nowhere else.</li>
</ol>`,
  },
  {
    id: 'keys',
    title: 'Keys',
    html: `<p>The key without a name can do all that orders, refunds and subscriptions take. Make a named key for each program instead, in the dashboard: it has scopes, an expiry if you want one, and shows when it was last used.</p>${table(
      ['Program', 'Scopes'],
      [
        ['Shop that creates orders and reads them', `${c('orders:write')}, ${c('orders:read')}`],
        ['Receiver of webhooks', 'No key: the webhook secret alone'],
        ['Program that pulls events', c('events:read')],
        ['Plans', `${c('subscriptions:write')}, ${c('subscriptions:read')}`],
        ['Bookkeeping', c('orders:read')],
        ['Monitor', `${c('orders:read')}, ${c('endpoints:read')}`],
        ['Program that asks for refunds', `${c('refunds:write')}, ${c('orders:read')}`],
      ],
    )}<p>${c('orders:write')} can accept an order of a hundred reais as paid with a cent, so it belongs on servers. No key changes the payout address, keys, secrets of the account or people: that takes a login. A key in a browser or an app is public.</p>`,
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    html: `<p>Set ${c('webhook_url')} to an https address, and send a test from the dashboard. <a href="/docs/webhooks">Five rules</a> hold for the receiver. The last one as a program, with the order's id from the event and reference and amount from your own books:</p>${program(
      'ship',
      ship,
    )}<p>Up to ten more endpoints take the kinds of event that they choose, such as ${c('order.overpaid')}, ${c('payment.unmatched')} or ${c('account.changed')}; the ${c(
      'webhook_url',
    )} gets seven kinds and no others.</p>`,
  },
  {
    id: 'secrets',
    title: 'Secrets',
    html: table(
      ['Secret', 'To replace it'],
      [
        ['Named key', 'Make a second one with the same scopes, deploy it, see it in use, revoke the first'],
        ['Key without a name', 'Rotate it in the dashboard: the old one is refused at once, everywhere'],
        ['Webhook secret', '<a href="/docs/webhooks#rotation">Give the receiver both</a>, then activate the new one'],
        ['Secret of an endpoint in the standard format', 'Rotate it: for 24 hours each webhook carries both signatures'],
      ],
    ),
  },
  {
    id: 'pull',
    title: 'Pull what no webhook brought',
    html: `<p>A webhook that failed seven times is dead. The list of events has it all the same, for 30 days, in order and without gaps. Keep the ${c('cursor')} of the last one that you handled:</p>${program(
      'events',
      events,
    )}<p>It is also all that one needs: a server without an open port can do without webhooks. After a restore of our database a cursor may be answered 410 ${c('events_reset')}; the programs go on where it asks.</p>`,
  },
  {
    id: 'payout',
    title: 'Payout address',
    html: `<ul><li>A wallet of your own, whose key you hold: money reaches it without us, and refunds are signed with it. Not an exchange's deposit address.</li>
<li>The first address of a new merchant is in force at once. Another one wants a fresh login, with the second factor where one is enrolled, and waits for 48 hours; for 24 when its key signs, or another owner approves. Any member can cancel it meanwhile. Enrol the second factor, and
choose ${c('account.changed')} at an endpoint.</li>
<li>Orders keep the address that they were made with.</li>
<li>Have your server <a href="/docs/payments#address">check the address of each order</a> against its own configuration.</li></ul>`,
  },
  {
    id: 'tolerance',
    title: 'Tolerance',
    html: `<p>An exchange may keep a fee of what your customer sends. Without a choice of yours an order may be short by a cent. ${c('payment_tolerance')} of the settings, or of one order, is a sum of USDC up to a tenth of the order and what the operator allows
(5 USDC by default); ${c('0')} wants the exact amount. What is given away beyond a cent is in the ledger.</p>`,
  },
  {
    id: 'exceptions',
    title: 'Each exception once',
    html: `<p>Play each against your own server before customers do. <a href="/docs/testing">On a test deployment</a> each is one command; <a href="/docs/exceptions">what to do in each case</a>.</p>${table(
      ['Exception', 'Play it', 'Your server should'],
      [
        ['Too little', shell('npx @ponte/cli trigger order.underpaid'), 'ask for the rest, or accept it; ship nothing'],
        ['Too much', shell('npx @ponte/cli trigger order.overpaid'), 'ship, and return the surplus'],
        ['Too late', shell('npx @ponte/cli trigger order.paid_late'), 'accept it or return it'],
        ['Twice', shell('npx @ponte/cli trigger order.duplicate'), 'ship once, and return the second payment'],
        ['After you cancelled', shell('npx @ponte/cli trigger order.paid_after_cancel'), 'accept it or return it'],
        ['In two halves', `${c('halves')} of <a href="/docs/testing#test">${c('simulate')}</a>`, 'ship once, at order.paid'],
        ['Another token', `${c('wrong_token')} there`, 'show what explains it, and recover it'],
        ['Taken back by the network', `${c('reorganised')} there`, 'look at what needs attention: the order is not paid any more'],
      ],
    )}`,
  },
  {
    id: 'refunds',
    title: 'Refunds and the second person',
    html: `<p>Money goes back from your wallet, by its signature. Return one small order before you go live, so that your people have done it once. ${c('refund_approval_above')} of the settings is the sum above which two different members have to take part; a key
counts as none. It does not stop who holds the key of the wallet: give that to a wallet with several signers. The role ${c('support')} creates and accepts orders and returns nothing. <a href="/docs/refunds">How money goes back</a>.</p>`,
  },
  {
    id: 'monitoring',
    title: 'Monitoring',
    html: `<p>Run it every few minutes with a key of ${c('orders:read')} and ${c('endpoints:read')}; it exits with 1 when a person is needed.</p>${program('watch', watch)}${table(
      ['Watch', 'Why'],
      [
        [c('GET /attention'), 'Money that does not settle by itself: each item waits for a person'],
        [`${c('failing_since')}, ${c('dead')} of an endpoint`, 'Your receiver does not answer 2xx; dead deliveries can be replayed'],
        ['Age of the last event that you handled', 'A receiver that answers 2xx and does nothing looks healthy to us'],
        [`${c('waiting')} of ${c('GET /summary')}`, 'Money that has not moved on to your payout address'],
        [c('account.changed'), 'A key, secret, member or payout address was changed: did you do that?'],
        [
          `${c('429')} and ${c('503')} of your requests`,
          `They name ${c('Retry-After')}; ${c('rate_unavailable')} creates no order at an old rate`,
        ],
      ],
    )}`,
  },
  {
    id: 'audit',
    title: 'Audit',
    html: `<p>${c('GET /entries')} is the ledger: a row per movement of your money, never changed. ${c('ponte audit')} of the command line reads what reached your addresses from a node of your own, compares it with the ledger and exits with 1 where they differ.
Run it once before you go live, and then each month before you close your books.</p>`,
  },
  {
    id: 'live',
    title: 'Going live',
    html: `<p>Test and live are two deployments with their own accounts, keys and secrets. A key of one begins with ${c('sk_test_')} and of the other with ${c('sk_live_')}; each refuses the other's, and objects have ${c(
      'livemode',
    )}. So the change is of three settings: ${c('PONTE_URL')}, ${c('PONTE_API_KEY')} and ${c('PONTE_WEBHOOK_SECRET')}, and of ${c('PONTE_PAYOUT_ADDRESS')} and ${c('PONTE_ROUTER')} where you check addresses. Then:</p>
<ol><li>Pay an order of one real yourself, from a wallet of your own, and see ${c('order.paid')} in your books and the money at your payout address.</li><li>Return it.</li><li>Have your server refuse an event of an order that it does not know.</li></ol>`,
  },
]
