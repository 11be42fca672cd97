import type { refundsPt } from './refunds-pt'

export const refundsEn: typeof refundsPt = {
  title: 'Refunds',
  fresh: 'Return money',
  surplus: amount => `${amount} are left over, which the order does not take.`,
  most: amount => `${amount} may still go back.`,
  fee: amount => `The platform fee of ${amount} does not come back: returning everything costs you that part.`,
  amount: 'Amount in USDC',
  payee: 'Address of who receives it',
  payeeHint:
    'Ask the payer for an address of their own. The sender of a transfer may be an exchange, where money that comes back is lost. Leave it empty for a payer whose wallet signed the payment.',
  askByLink: 'Ask the payer for an address',
  askHint:
    'Makes a link. The payer names their transaction and an address of their own there; then you compare the address and sign. Send the link to the payer alone.',
  link: 'The payer’s link',
  linkOpen: 'See the page',
  asked: (amount, day) => `Refund of ${amount}: the link waits for the payer’s address until ${day}.`,
  endLink: 'End the link',
  endLinkSure: 'End this link? It takes no address any more. Nothing has left your wallet.',
  named: 'The address was named through the link, by a person who knew the transaction. Confirm it with the customer before you sign.',
  reason: 'Why, for your records',
  create: 'Continue',
  sign: wallet => (wallet === '' ? 'Sign in the wallet' : `Sign with ${wallet}`),
  signHint: address =>
    `The money leaves your wallet ${address}. It signs once, without a network fee; we submit it. Once it has signed, the refund does not change any more.`,
  noWallet: 'Open this page in the browser that has this wallet, to sign.',
  waiting: 'Answer in your wallet…',
  to: 'To',
  statuses: {
    awaiting_destination: 'Address missing',
    awaiting_signature: 'Your signature is missing',
    awaiting_funds: 'Your wallet holds too little',
    submitted: 'Signed, on its way',
    confirmed: 'Returned',
    cancelled: 'Cancelled',
  },
  cancel: 'Cancel the refund',
  cancelSure: 'Cancel this refund? Nothing was signed, so nothing has left your wallet.',
  refusals: {
    refused: 'You refused in your wallet. Nothing was signed.',
    busy: 'Your wallet already has an open request. Open the wallet, answer it, and try again.',
    wrong_network: 'Your wallet is still on another network. Change it in the wallet and try again.',
    no_account: 'Your wallet shared no account. Unlock it and try again.',
    other_account: 'Your wallet is at another account. Choose the account of your payout address in it and try again.',
    not_now: 'There is nothing to sign now: the network does not answer, or this refund has changed.',
    other: 'The wallet did not sign. Try again, or use another wallet with the same account.',
  },
}
