import type { Watch } from '../logs/filter'
import type { Nodes } from '../rpc/pool'
import type { Late } from '../store/routers'
import type { Steps } from './apply'
import { readPassed } from './fetch'
import type { Reader } from './fetch-ahead'
import type { Votes } from './quorum'
import { UndecidedError } from './recovery'
import type { Lead } from './session'

/**
 * One turn for routers that were added after the scan had passed their beginning. The scan waits meanwhile, and with it expiry: an order
 * that was paid through such a router must not expire before its payment is known.
 */
export async function readLate(
  lead: Lead,
  late: Late,
  { nodes, votes, steps, reading, watch }: { nodes: Nodes; votes: Votes; steps: Steps; reading: Reader; watch: Watch },
): Promise<{ from: number; to: number }> {
  const { cursor } = lead
  const from = late.scanned + 1
  const to = Math.min(cursor.scanned.number, late.scanned + reading.span())
  // After a reorganisation the cursor may stand below: the scan itself will read on from there, for all routers.
  if (from > to) {
    await steps.takeInPassed(lead, [], { lateScanned: null })
    return { from, to: cursor.scanned.number }
  }
  const wanted = { ...watch, routers: late.routers, deposits: new Map() }
  const { last, payments, ...answer } = await nodes.use(node => readPassed(node, wanted, from, to, cursor.scanned))
  reading.grow(answer)
  const outcome = await votes.onSpan(from, last, payments, wanted)
  if (outcome === 'undecided') throw new UndecidedError('the RPC end points do not agree on the payments of a router that was added')
  if (outcome === 'ours') await steps.takeInPassed(lead, payments, { lateScanned: to === cursor.scanned.number ? null : to })
  return { from, to }
}
