import type { Caller } from '@ponte/contracts'
import { merchantCaller, termsIn } from '../credentials/credentials'
import { handling } from '../edge/handlers'
import type { Owners } from '../owners/forwarding'
import type { Owner } from '../owners/owner'
import { overviewOf, overviewPaths } from './overview'

/** The one answer that several owners give together. */
export const overviewHandlers = (owners: Owners, now: () => Date) =>
  handling({
    async getOverview(_asked, _req, res) {
      const caller = merchantCaller(termsIn(res))
      const paths = overviewPaths(now())
      const [orders, subscriptions, deliveries] = await Promise.all([
        answerOf(owners.orders, caller, paths.orders),
        answerOf(owners.subscriptions, caller, paths.subscriptions),
        answerOf(owners['webhook-dispatcher'], caller, paths.deliveries),
      ])
      res.json(overviewOf({ orders, subscriptions, deliveries }))
    },
  })

/** Null from an owner that does not answer, which has been logged: the others are still worth showing. */
async function answerOf(owner: Owner, caller: Caller, path: string): Promise<unknown> {
  const answer = await owner.ask(caller, { method: 'GET', path }).catch(() => null)
  return answer?.status === 200 ? JSON.parse(answer.body.toString('utf8')) : null
}
