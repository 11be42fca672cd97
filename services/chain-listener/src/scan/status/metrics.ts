import type { Metrics } from '@ponte/service-kit'
import { questions } from '../../rpc/pool'
import type { Status } from '.'

export function observeStatus(metrics: Metrics, status: () => Promise<Status>): void {
  // One scrape reads the status once, whatever the number of gauges.
  let cached: { at: number; value: Promise<Status> } | undefined
  const current = () => {
    const at = Date.now()
    if (!cached || at - cached.at > 250) cached = { at, value: status() }
    return cached.value
  }
  const observe = (name: string, help: string, pick: (status: Status) => number | null | undefined) =>
    metrics.observed(name, help, async () => pick(await current()) ?? Number.NaN)

  observe('ponte_chain_head_block', 'The highest block an RPC end point has shown', now => now.head_block)
  observe('ponte_chain_scanned_block', 'The last block read', now => now.scanned_block)
  observe('ponte_chain_confirmed_block', 'The last confirmed block', now => now.confirmed_block)
  observe('ponte_chain_lag_blocks', 'Blocks between head and scan', now => now.lag_blocks)
  observe(
    'ponte_chain_lag_seconds',
    'Chain time between head and scan, or time since the head was last seen where that is longer',
    now => now.lag_seconds,
  )
  observe('ponte_chain_head_timestamp_seconds', 'Time of the newest block that was read', now =>
    now.head_time === null ? null : Date.parse(now.head_time) / 1_000,
  )
  observe('ponte_chain_leader', '1 in the replica that scans', now => (now.role === 'leader' ? 1 : 0))
  observe('ponte_chain_catch_up_blocks_left', 'Blocks left of a catch-up; 0 when there is none', now => now.catch_up?.blocks_left ?? 0)
  observe('ponte_chain_catch_up_percent', 'Part of a catch-up that is done; 100 when there is none', now => now.catch_up?.percent ?? 100)
  observe('ponte_chain_catch_up_seconds_left', 'Estimated rest of a catch-up; 0 when there is none', now =>
    now.catch_up ? now.catch_up.seconds_left : 0,
  )
  const ofNodes = (name: string, help: string, pick: (node: Status['rpc'][number]) => boolean) =>
    metrics.observedEach(name, help, ['rpc'], async () =>
      (await current()).rpc.map(node => [{ rpc: node.name }, pick(node) ? 1 : 0] as const),
    )
  ofNodes('ponte_chain_rpc_in_use', '1 for the RPC end point in use', node => node.in_use)
  ofNodes('ponte_chain_rpc_resting', '1 for an RPC end point that is left alone for a while', node => node.resting !== null)
  metrics.observedEach(
    'ponte_chain_question_unanswered_seconds',
    'For how long this kind of question has been asked of RPC end points in vain; 0 while it is answered',
    ['question'],
    async () => {
      const { unanswered_s } = await current()
      return questions.map(question => [{ question }, unanswered_s[question]] as const)
    },
  )
  observe(
    'ponte_chain_unlinked_seconds',
    'For how long each RPC end point that shows a higher head has lacked the last block that was read; 0 while one has it',
    now => now.unlinked_s,
  )
  observe('ponte_chain_rpc_endpoints', 'RPC end points configured', now => now.rpc.length)
}
