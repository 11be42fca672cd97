import { listCheckpoints } from '../api/checkpoint'

export const chain = {
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
