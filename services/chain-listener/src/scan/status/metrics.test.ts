import { createMetrics } from '@ponte/service-kit'
import { questions } from '../../rpc/pool'
import type { Status } from '.'
import { observeStatus } from './metrics'

const node = (name: string, in_use: boolean): Status['rpc'][number] => ({
  ...{ name, in_use, resting: in_use ? null : 'behind', head: 12, questions: {} },
  ...{ calls_in_batch: 64, blocks_in_range: {} },
})
const status: Status = {
  ...{ chain_id: 1, token_address: '0x', role: 'leader', head_block: 12, head_time: null, scanned_block: 12, scanned_hash: null },
  ...{ confirmed_block: 11, confirmed_time: null, lag_blocks: 0, lag_seconds: 0, generation: null, catch_up: null, halted: null },
  rpc: [node('one', true), node('two', false)],
  answered_s: {},
  unanswered_s: Object.fromEntries(questions.map(question => [question, question === 'transfers' ? 301 : 0])) as Status['unanswered_s'],
  unlinked_s: 0,
  trust: { end_points: 2, quorum: 2, one_node_is_trusted: false, proof: 'voted', unproven: null },
}

it('the first scrape shows end points and questions, whose state is in the database', async () => {
  const metrics = createMetrics('listener')
  observeStatus(metrics, async () => {
    await new Promise(resolve => setImmediate(resolve))
    return status
  })
  const text = await metrics.registry.metrics()
  expect(text).toContain('ponte_chain_rpc_in_use{rpc="one",service="listener"} 1')
  expect(text).toContain('ponte_chain_rpc_resting{rpc="two",service="listener"} 1')
  expect(text).toContain('ponte_chain_question_unanswered_seconds{question="transfers",service="listener"} 301')
  expect(text).toContain('ponte_chain_rpc_endpoints{service="listener"} 2')
})
