import { c, program, type Section, table } from '../section'
import { claim, refund, returnable, signRefund } from './programs/refunds'

export const refundsGuide: Section[] = [
  {
    id: 'how',
    title: 'How it goes back',
    html: `<p>From your own wallet, the payout address of the order, by one signature of it. Ponte holds no key that could. We submit what is signed and pay for the gas.</p><ol><li>Ask for a refund: an amount, the surplus, or all that may still go back.</li>
<li>Your wallet signs the refund's ${c('typed_data')} (EIP-712): one payee, one amount, once.</li><li>Bring the signature. From then on the money may move at any moment.</li><li>${c('refund.confirmed')} comes when a confirmed block shows it.</li></ol>
<p>In the dashboard, the page of the order does all of it with a browser wallet.</p>`,
  },
  {
    id: 'amount',
    title: 'How much',
    html: `<p>All refunds of an order together return no more than came for it, the platform's fee included: that part is your cost. The order is paid, expired or cancelled; of an open one more may come. ${c('ponte')} is <a href="/docs/quickstart#order">the quickstart's</a>; the key needs ${c(
      'refunds:write',
    )}, to ask.</p>${program('returnable', returnable)}`,
  },
  {
    id: 'ask',
    title: 'Ask and sign',
    html: `<p>The payee must be an address that your customer named. The sender of a payment may be an exchange, where money that comes back is lost; only a payer who signed the payment in the checkout has proven their address, and then ${c(
      'payee_address',
    )} may be left out.</p>${program('refund', refund)}<p>Give ${c('typed-data.json')} to ${c('eth_signTypedData_v4')} of the wallet, or to any library for EIP-712, within a day, and bring what it answers:</p>${program('sign-refund', signRefund)}`,
  },
  {
    id: 'link',
    title: 'When no address is known',
    html: `<p>Send the payer a link. There they name their payment and an address of theirs, and a refund to it waits for your signature, for thirty days. Send it to the payer alone: any holder of the link who knows the payment can name an address. With ${c('email')} they also need a code that is
mailed there, so that the link in other hands is of no use; an installation that sends no mail refuses it. An order has one link that is open.</p>${program('claim', claim)}`,
  },
  {
    id: 'two',
    title: 'The second person',
    html: `<p>Above ${c('refund_approval_above')} of your settings a signature is taken only where two different members took part: who asked, who approved, who brings the signature. ${c('needs_approval')} is true meanwhile. A key is no person, so what a server asks for above the limit
needs a member who approves and another one who brings the signature. The refunds of an order are judged together. <a href="/docs/api/refunds#approverefund">Approving</a> takes a fresh login.</p>`,
  },
  {
    id: 'states',
    title: 'States',
    html: table(
      ['Status', 'Meaning'],
      [
        [c('awaiting_signature'), 'Your wallet has to sign, or another member to approve; it can be cancelled'],
        [c('submitted'), 'Signed: the money may move at any moment, until the chain has passed the end of the signature'],
        [c('awaiting_funds'), 'The same, and your wallet holds too little'],
        [c('confirmed'), 'It has gone back'],
        [c('cancelled'), 'It will not'],
      ],
    ),
  },
]
