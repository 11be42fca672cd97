import type { elsewherePt } from './elsewhere-pt'

export const elsewhereEn: typeof elsewherePt = {
  hint: 'Was it sent on another network? Change the wallet of this browser to that network: it looks for the money at the address of this invoice.',
  noWallet: 'This browser has no wallet.',
  look: wallet => (wallet === '' ? 'Look with the wallet' : `Look with ${wallet}`),
  looking: 'Looking…',
  found: (amount, network) => `${amount} lie at the address of this invoice on ${network}.`,
  goesTo: 'They can go to your payout address alone, less the fee. Your wallet pays the gas.',
  sure: network =>
    `See first that this address is yours on ${network} too: at an exchange, or where it is a contract wallet that does not exist there, the money may be lost.`,
  send: 'Send to my address',
  sent: 'Sent. This money stands in no books here and does not pay the invoice: when it has arrived, accept the invoice, or return the amount from your wallet.',
  reasons: {
    offered: network => `The wallet is on ${network}, which this invoice offers already. Change it to the network that the customer used.`,
    unknown: network => `${network} does not know that transaction either.`,
    no_router: network => `The contract that moves this money does not exist on ${network}. Ask the operator of this service.`,
    empty: network => `There is no USDC at the address of this invoice on ${network}.`,
    moved: network => `The wallet has left ${network}. Go back to it and try again.`,
    refused: () => 'The wallet refused.',
    busy: () => 'The wallet shows a request already. Answer it there first.',
    no_account: () => 'The wallet offered no account.',
    insufficient_gas: network => `The wallet has no gas on ${network}.`,
    other: () => 'The wallet could not do it. Try again.',
  },
}
