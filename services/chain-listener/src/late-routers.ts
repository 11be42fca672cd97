import type { Lead } from './book'
import { UndecidedError } from './faults'
import type { Nodes } from './nodes'
import { readPassed } from './reader'
import type { Reader } from './reading'
import type { Steps } from './steps'
import type { Late } from './store/routers'
import type { Votes } from './votes'
import { watchOf } from './watch'

/**
 * One turn for routers that were added after the scan had passed their beginning. The scan waits meanwhile, and with it expiry: an order
 * that was paid through such a router must not expire before its payment is known.
 */
export async function readLate(
  lead: Lead,
  late: Late,
  { nodes, votes, steps, reading }: { nodes: Nodes; votes: Votes; steps: Steps; reading: Reader },
): Promise<{ from: number; to: number }> {
  const { cursor } = lead
  const from = late.scanned + 1
  const to = Math.min(cursor.scanned.number, late.scanned + reading.span())
  // After a reorganisation the cursor may stand below: the scan itself will read on from there, for all routers.
  if (from > to) {
    await steps.takeInPassed(lead, [], cursor.scanned.number)
    return { from, to: cursor.scanned.number }
  }
  const watch = watchOf(cursor.chainId, late.routers)
  const { last, payments, ...answer } = await nodes.use(node => readPassed(node, watch, from, to, cursor.scanned))
  reading.grow(answer)
  const outcome = await votes.onSpan(from, last, payments, watch)
  if (outcome === 'undecided') throw new UndecidedError('the RPC end points do not agree on the payments of a router that was added')
  if (outcome === 'ours') await steps.takeInPassed(lead, payments, to)
  return { from, to }
}
