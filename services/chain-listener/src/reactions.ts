import type { Reactions } from '@ponte/service-kit'
import type { createRecoveries } from './recoveries'
import type { createRefunds } from './refunds'
import type { Intake } from './relay'

/** The scan knows memos and addresses, not orders; orders names the addresses to watch and who may pay without gas. */
export const reactions = (
  intake: Intake,
  refunds: Pick<ReturnType<typeof createRefunds>, 'watch'>,
  recoveries: Pick<ReturnType<typeof createRecoveries>, 'watch'>,
): Reactions => ({
  // Left in the queue by the release before; orders sends what is payable again.
  'order.created': async () => undefined,
  'deposit.watch': event => intake.watch(event.data, event.id),
  'payout.watch': event => intake.watchPayouts(event.data, event.id),
  'refund.watch': event => refunds.watch(event.data, event.id),
  'recovery.watch': event => recoveries.watch(event.data, event.id),
  'chain.followed': event => intake.followed(event.data, event.id),
  'order.cancelled': event => intake.cancelled(event.data, event.id),
})
