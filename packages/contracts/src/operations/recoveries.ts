import { createRecovery } from '../api/recovery'
import { byEither, owned } from './operation'

export const recoveries = {
  createRecovery: byEither('post', '/orders/:id/recoveries', {
    ...{ owner: 'orders', permission: 'refunds:write', tag: 'Orders', login: 'fresh', alias: 'createMyRecovery', audit: 'recovery.create' },
    summary: 'Recover a token that is not USDC from the deposit address',
    description:
      'Of a token, or of the coin of the network, that `POST /orders/{id}/explain` found by the transaction that sent it (`wrong_token`, with all confirmations). All of it goes to the payout ' +
      'address of the order, which `destination` has to be, and nowhere else. We submit it and pay for the gas. While one is pending, and once it is confirmed, the same answer is given ' +
      'again. Anyone can send worthless tokens to an address: leave alone what you do not know.',
    body: createRecovery,
    example: {
      token_address: '0x6B175474E89094C44Da98b954EedeAC495271d0F',
      destination: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    },
    answers: { 202: 'Recovery' },
    errors: [...owned, 'invalid_state'],
  }),
  listRecoveries: byEither('get', '/orders/:id/recoveries', {
    ...{ owner: 'orders', permission: 'orders:read', tag: 'Orders', alias: 'listMyRecoveries' },
    summary: 'List what was recovered from the deposit address of an order',
    description: 'The latest recovery of each token.',
    answers: { 200: 'RecoveryList' },
    errors: owned,
  }),
}
