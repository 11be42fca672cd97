import { c, markup, program, type Section, table } from '../section'
import { address, checkedOrder } from './programs/address'

export const paymentsGuide = (base: string): Section[] => [
  {
    id: 'states',
    title: 'States of an order',
    html: table(
      ['Status', 'Meaning', 'Event'],
      [
        [c('pending'), 'Nothing has come', '–'],
        [c('confirming'), 'Enough was seen on the chain and is not confirmed yet; it does not expire meanwhile', '–'],
        [c('underpaid'), 'Something was confirmed, less than is asked for; the rest can still come', c('order.underpaid')],
        [
          c('paid'),
          'Enough is confirmed, in a block before <code>expires_at</code>',
          `${c('order.paid')}, or ${c('subscription.charged')}`,
        ],
        [c('expired'), 'The time is over', c('order.expired')],
        [c('cancelled'), 'You cancelled it before anything came', c('order.cancelled')],
      ],
    ),
  },
  {
    id: 'misfits',
    title: 'When a payment does not fit',
    html: `<p>${c('exception')} of the order names the case. The first event goes to your ${c('webhook_url')}; the others to <a href="/docs/api/endpoints">endpoints</a> that chose them, and into the pull.</p>${table(
      ['Case', 'The payer sees', 'You see', 'Event'],
      [
        [
          'Too little',
          'How much is missing, and the same address',
          `${c('underpaid')}; ${c('received')} and ${c('expected')}`,
          c('order.underpaid'),
        ],
        [
          'Too much',
          'A receipt, and that the shop can return the rest',
          `${c('paid')}, ${c('overpaid')}`,
          `${c('order.paid')}, ${c('order.overpaid')}`,
        ],
        ['Twice', 'A receipt with both payments', `${c('paid')}, ${c('duplicate')}`, c('order.duplicate')],
        [
          'Too late',
          'That it had expired, and that the shop is notified',
          `${c('expired')}, ${c('paid_late')}`,
          `${c('order.expired')}, ${c('order.paid_late')}`,
        ],
        ['After you cancelled', 'That it was cancelled', `${c('cancelled')}, ${c('paid_after_cancel')}`, c('order.paid_after_cancel')],
        [
          'Taken back by the network',
          'That it waits again; after confirmation, nothing changes',
          `${c('pending')} again, or ${c('reorged')}`,
          '–',
        ],
        ['Matches no order', '–', 'Nothing on an order', c('payment.unmatched')],
      ],
    )}<p>What came too little, too late or after the cancellation can count as payment in full: ${c('POST /orders/{id}/accept')}, or <em>Accept</em> in the list of what needs attention.
Then ${c('order.paid')} comes as ever. A payment that named no order can be counted for one: ${c('POST /attention/{id}/attach')}.</p><p>A customer has paid, and the order does not show it: ${c('POST /orders/{id}/explain')} with the hash of their transaction, or its link, answers the reason in one code and one sentence. The
checkout has the same for the payer, and the page of the order for you. <a href="/docs/exceptions">What to do in each case</a>, with programs.</p><p>Ponte never holds the money: it is at your payout address, less the fee. What came too much or too late is returned from there, by you. When the payer paid from an exchange, ask for an
address first: the one it came from is the exchange's. <a href="/docs/refunds">How money goes back</a>.</p>`,
  },
  {
    id: 'button',
    title: 'A button on any site',
    html: `<p>A <a href="/docs/api/links#createlink">payment link</a> needs no program. This line draws a button where it stands; ${c('data-lang')} is ${c('pt-BR')} or ${c('en')}, and ${c('data-label')} other words:</p>${markup(
      `<script src="${base}/button.js"
  data-link="${base}/pay/link/01981f3c-7b1e-4cc3-9d0e-4f1d2a6b8c90"
  data-lang="pt-BR" async></script>`,
    )}<p>Before a click nothing is asked of anyone but this script; there is no frame and no cookie. The payer comes back by the link's ${c('success_url')}. Where a policy names scripts
(${c('Content-Security-Policy')}), it needs ${c('nonce')} of the page, or ${c(`script-src ${base}`)}, and nothing else. It changes under its URL, so give it no ${c('integrity')}. Styles of yours reach it as
${c('.ponte-button::part(button)')}. Without scripts the same is a link:</p>${markup(
      `<a href="${base}/pay/link/01981f3c-7b1e-4cc3-9d0e-4f1d2a6b8c90">Pagar com USDC</a>`,
    )}`,
  },
  {
    id: 'amounts',
    title: 'Which amount is which',
    html: table(
      ['Field', 'Meaning'],
      [
        [c('brl_amount'), 'what you invoiced'],
        [c('usdc_amount'), 'what the payer is asked for, fee included; fixed with the order'],
        [c('platform_fee'), 'the fee in it'],
        [c('expected'), `your share: ${c('usdc_amount')} less ${c('platform_fee')}`],
        [c('received'), 'your share of what is confirmed; 0.000000 while nothing is'],
        [`${c('due')} (checkout)`, 'what the payer has still to send'],
      ],
    ),
  },
  {
    id: 'address',
    title: 'Check where the money goes',
    html: `<p>A deposit address follows from three things: the router, the order's ${c('memo')} and your payout address. Whoever should ever change what Ponte answers cannot change that, so a server that knows
its own payout address and the router notices. With the SDK it is one option, ${c('payout')}; then ${c('orders.create')} and ${c('orders.get')} throw ${c('address_mismatch')} when an order names another payout address, router or
deposit address on any of its networks, and no payer is sent to its checkout. Where you named another payout address for one network, compare that one there: ${c('payout.addresses')} of the SDK. ${c('PONTE_PAYOUT_ADDRESS')} and ${c('PONTE_ROUTER')} come from your own configuration, never from an answer; the operator publishes the router. ${c(
      'ponte',
    )} is <a href="/docs/quickstart#order">the quickstart's</a>.</p>
${program('checked-order', checkedOrder)}
<p>${c('ponte verify-address')} of the command line compares one address. The address itself, in Python and PHP without any library:</p>${program('address', address)}`,
  },
  {
    id: 'limits',
    title: 'Limits',
    html: table(
      ['What', 'Limit'],
      [
        ['Life of an order', '10 seconds to 7 days; 30 minutes by default'],
        ['Amount', 'above zero, up to 9,999,999,999.99 BRL, two decimals'],
        [c('external_ref'), '255 characters'],
        [c('description'), '500 characters'],
        [c('metadata'), '20 pairs; names of 40, values of 500 characters'],
        [c('Idempotency-Key'), '1 to 255 printable characters; answers are kept for 7 days'],
        ['Page of a list', '1 to 100; 20 by default'],
        ['Requests', `6,000 a minute for each key, as ${c('RateLimit-Limit')} names it here`],
        ['Events', 'kept for 30 days'],
        ['Webhook attempt', '15 seconds; 7 attempts'],
        ['Webhook endpoints', `10 beside the ${c('webhook_url')}`],
      ],
    ),
  },
  {
    id: 'versions',
    title: 'Versions',
    html: `<p>The path carries the version: ${c('/api/v1')}. Every answer names the date of the interface that made it in ${c('Ponte-Version')}. Within ${c('/api/v1')} fields, kinds of events, codes and optional
parameters are only added, so read what you know and pass over the rest; nothing is renamed, removed or made narrower. What cannot be done so gets ${c('/api/v2')}, beside which
${c('/api/v1')} goes on for at least twelve months, with a ${c('Sunset')} header from the day on which its end is set.</p>`,
  },
]
