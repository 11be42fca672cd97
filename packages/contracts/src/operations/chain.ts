import { listCheckpoints } from '../api/checkpoint'

export const chain = {
  listNetworks: {
    method: 'get',
    path: '/api/v1/networks',
    credentials: [],
    permission: null,
    owner: 'orders',
    tag: 'Chain',
    summary: 'List the networks that orders may be paid on',
    description:
      'Those of this installation, the first of which is one of every order. A merchant narrows new orders to some (`chain_ids` of `PATCH /merchants/me`), and each order further (`chain_ids` of `POST /orders`).',
    answers: { 200: 'NetworkList' },
    cachedS: 30,
  },
  listCheckpoints: {
    method: 'get',
    path: '/api/v1/chain/checkpoints',
    credentials: [],
    permission: null,
    owner: 'chain-listener',
    tag: 'Chain',
    summary: 'List the checkpoints of what was booked of the chain',
    description:
      'Oldest first; send `next_after` as `after` to go on. A hash for every 1,000 confirmed blocks, over the logs `PaymentReceived` of the routers that were booked and over ' +
      'the hash before it: who has a node recomputes it (`ponte audit --checkpoints`), and who keeps one notices when an earlier one is changed.',
    query: listCheckpoints,
    answers: { 200: 'CheckpointList' },
    cachedS: 30,
  },
} as const
