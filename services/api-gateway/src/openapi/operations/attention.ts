import { listAttention } from '@ponte/contracts'
import { api, me, type Operation, owned } from './operation'

export const attention: Operation[] = [
  api('get', '/attention', {
    ...{ id: 'listAttention', tag: 'Orders', summary: 'List money that does not simply settle', query: listAttention },
    description:
      'Too little, too much, late, twice, after a cancellation, undone by the network, blocked on its way, or to your payout address without an order: ' +
      'what came, the fee, what the order takes, what is left over, and who sent it, as far as that is known.',
    answers: { 200: 'AttentionList' },
  }),
  api('post', '/attention/:id/handle', {
    ...{ id: 'handleAttention', tag: 'Orders', summary: 'Mark it as handled', body: 'HandleAttention', answers: { 200: 'AttentionItem' } },
    description: 'It leaves the list, and comes back with anything new that is known of it. 409 where that is so already.',
    errors: [...owned, 'invalid_state'],
  }),
  api('post', '/attention/:id/reopen', {
    ...{ id: 'reopenAttention', tag: 'Orders', summary: 'Show it again', answers: { 200: 'AttentionItem' }, errors: owned },
  }),
]

export const myAttention: Operation[] = [
  me('get', '/attention', {
    ...{ id: 'listMyAttention', tag: 'Dashboard', summary: 'List money that does not simply settle', query: listAttention },
    answers: { 200: 'AttentionList' },
  }),
  me('post', '/attention/:id/handle', {
    ...{
      id: 'handleMyAttention',
      tag: 'Dashboard',
      summary: 'Mark it as handled',
      body: 'HandleAttention',
      answers: { 200: 'AttentionItem' },
    },
    errors: [...owned, 'invalid_state'],
  }),
  me('post', '/attention/:id/reopen', {
    ...{ id: 'reopenMyAttention', tag: 'Dashboard', summary: 'Show it again', answers: { 200: 'AttentionItem' }, errors: owned },
  }),
]
