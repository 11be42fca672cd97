import type { Event } from '@ponte/contracts'
import type { Reactions } from '@ponte/service-kit'
import { eventNotice } from './mail/event-notice'
import type { Store } from './store'

/** Events in: each is a mail to the members who want it, and nothing without a server for mail. */
export function reactions(mails: Store['mails'] | null, wake: () => void): Reactions {
  const notify = async (event: Event) => {
    const notice = eventNotice(event)
    if (!notice || !mails) return
    await mails.notify(event.id, notice)
    wake()
  }
  return {
    'order.underpaid': notify,
    'order.overpaid': notify,
    'order.paid_late': notify,
    'order.paid_after_cancel': notify,
    'order.duplicate': notify,
    'order.payment_unmatched': notify,
    'subscription.past_due': notify,
    'endpoint.failing': notify,
    'order.paid': notify,
    'subscription.charged': notify,
  }
}
