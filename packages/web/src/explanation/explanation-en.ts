import type { explanationPt } from './explanation-pt'

export const explanationEn: typeof explanationPt = {
  merchantTitle: 'The customer has paid, and it does not show here?',
  hash: 'Transaction hash, or its link',
  ask: 'Check',
  asking: 'Checking…',
  malformed: 'Paste the code that the wallet or the exchange shows: 0x and 64 letters or digits, or the transaction’s link in an explorer.',
  limited: 'That was a lot of questions. Wait a minute and try again.',
  unavailable: 'The network could not be asked just now. Try again in a moment.',
  seeOther: 'See the other invoice',
  sentences: {
    settled: () => 'This transaction is on record, and the invoice is paid.',
    short: ({ shortBy }) => `This transaction is on record, but ${shortBy} is not confirmed yet.`,
    late: () => 'The money came after the deadline or the cancellation; the merchant can accept it or return it.',
    unconfirmed: ({ seen, required }) =>
      seen < required
        ? `The network has the transaction, with ${seen} of ${required} confirmations; wait for the rest.`
        : 'The transaction has all its confirmations and shows here within a minute.',
    reverted: () => 'The transaction failed on the network, and no USDC left the wallet.',
    not_found: () => 'The network of this invoice does not know that transaction. Check the hash, and the network that was used.',
    other_order: () => 'That transaction paid another invoice.',
    wrong_token: ({ token }) =>
      `Another coin${token === null ? '' : ` (${token})`} was sent to the address of this invoice, which takes only USDC; the merchant can recover it and settle with you what to do.`,
    unknown_memo: ({ amount }) =>
      `The transaction paid ${amount} to the merchant and named no invoice; the merchant can count it for this one.`,
    wrong_recipient: ({ amount, recipient }) =>
      recipient === null
        ? 'The transaction sent no USDC to where this invoice is paid.'
        : `The transaction sent ${amount} to ${recipient}, which is not where this invoice is paid.`,
    wrong_network: ({ network, amount }) => {
      if (network === null) return 'The transaction is of another network than this invoice’s.'
      return amount === null
        ? `The transaction is on ${network}, where this invoice is not paid.`
        : `The transaction sent ${amount} for this invoice on ${network}, which it does not offer: the shop can count it, or return it.`
    },
  },
}
