import { c, program, type Section, table } from '../section'
import { accept, attach, attention, explain, recover } from './programs/exceptions'

const link = (id: string, title: string) => `<a href="#${id}">${title}</a>`
const back = '<a href="/docs/refunds">return it</a>'

export const exceptionsGuide: Section[] = [
  {
    id: 'cases',
    title: 'Case by case',
    html: `<p>Nothing that came is lost: it is at your payout address or on its way there. What waits for you is in ${c('GET /attention')} and in the dashboard. Events marked * go to <a href="/docs/api/endpoints">endpoints</a> that chose them, and into the pull.</p>${table(
      ['Case', 'You see', 'Event', 'What to do'],
      [
        [
          'Too little',
          `${c('underpaid')}; the rest can still come until ${c('expires_at')}`,
          c('order.underpaid'),
          `wait, ${link('accept', 'accept it')}, or ${back} once it has expired`,
        ],
        [
          'Too much',
          `${c('paid')} with the exception ${c('overpaid')}`,
          `${c('order.paid')}, ${c('order.overpaid')}*`,
          `ship; return the surplus`,
        ],
        [
          'Twice',
          `${c('paid')}, ${c('duplicate')}`,
          `${c('order.paid')}, ${c('order.duplicate')}*`,
          `ship once; return the second payment`,
        ],
        [
          'Too late',
          `${c('expired')}, ${c('paid_late')}`,
          `${c('order.expired')}, ${c('order.paid_late')}*`,
          `${link('accept', 'accept it')} or ${back}`,
        ],
        [
          'After you cancelled',
          `${c('cancelled')}, ${c('paid_after_cancel')}`,
          `${c('order.cancelled')}, ${c('order.paid_after_cancel')}*`,
          `${link('accept', 'accept it')} or ${back}`,
        ],
        [
          'In parts',
          `${c('underpaid')}, then ${c('paid')}`,
          `${c('order.underpaid')} where one part was confirmed alone, ${c('order.paid')}`,
          'nothing',
        ],
        [
          'Another token, or the coin of the network',
          `${c('foreign_token')}, once the transaction was explained`,
          '–',
          link('recover', 'recover it'),
        ],
        [
          'Names no order',
          `${c('unmatched')}`,
          `${c('payment.unmatched')}*`,
          `${link('attach', 'count it for its order')}, or return it from your wallet`,
        ],
        [
          'Taken back by the network',
          `${c('pending')} again before it was confirmed; after it, the exception ${c('reorged')}`,
          '–',
          `wait: most come again in another block. Stop what has not left`,
        ],
        [
          'Your payout address is blocked by the issuer of USDC',
          `${c('paid')} and ${c('settlement_blocked')}`,
          `${c('order.paid')} without ${c('order.settled')}*`,
          'ask the issuer; the money waits at the deposit address',
        ],
        ['The customer has paid, and nothing is to be seen', '–', '–', link('explain', 'have the transaction explained')],
      ],
    )}`,
  },
  {
    id: 'list',
    title: 'What waits',
    html: `<p>Each item names why it is there (${c('reasons')}), what came, what of it no order takes (${c('left_over')}) and what can be done beside returning it (${c('actions')}). Mark it as handled with its ${c('facts')}; something new brings it back. ${c(
      'ponte',
    )} is <a href="/docs/quickstart#order">the quickstart's</a>.</p>${program('attention', attention)}`,
  },
  {
    id: 'accept',
    title: 'Accept',
    html: `<p>What came counts as payment in full, once and for good: the order is ${c('paid')} and ${c('order.paid')} comes as ever. What is missing is given away and stands in the ledger. It is refused while a payment is still being confirmed, and where money of the order goes back.</p>${program(
      'accept',
      accept,
    )}`,
  },
  {
    id: 'explain',
    title: 'Explain a transaction',
    html: `<p>The customer sends the hash of the transaction, or the link of an explorer to it. The answer is one code and one sentence, such as ${c('short')}, ${c('late')}, ${c('wrong_token')} or ${c(
      'not_found',
    )}. It changes nothing of the order. The checkout asks the same for the payer.</p>${program('explain', explain)}`,
  },
  {
    id: 'attach',
    title: 'Count it for an order',
    html: `<p>A payment through the router whose memo is that of no order, or one that came on a network that its order did not offer, where ${c('actions')} has ${c('attach')}: it counts for the order as if it had named it, at the time of its block, so what was late is late.</p>${program(
      'attach',
      attach,
    )}`,
  },
  {
    id: 'recover',
    title: 'Recover another token',
    html: `<p>Have the transaction explained first. Then all of that token goes from the deposit address to the payout address of the order and nowhere else; we submit it. Anyone can send worthless tokens: leave alone what you do not know. The key needs ${c(
      'refunds:write',
    )}.</p>${program('recover', recover)}`,
  },
]
