import type { Event } from '@ponte/contracts'
import { currentTraceparent, type Reactions } from '@ponte/service-kit'
import type { Store } from './store'
import { toWebhook } from './webhook'

export interface ReactionDeps {
  store: Store
  /** Called when something may be due. */
  due(): void
  /** Called when an event waits for its merchant, or a merchant has come. */
  admit(): void
}

/** What the dispatcher does when others speak: keep the event in the merchant's words, due now. */
export function reactions({ store, due, admit }: ReactionDeps): Reactions {
  const tell = async (event: Event) => {
    const webhook = toWebhook(event)
    if (!webhook) return
    const waits = await store.saveEvent({ ...webhook, id: event.id, occurredAt: event.occurred_at, trace: currentTraceparent() })
    due()
    if (waits) admit()
  }
  return {
    'merchant.updated': async event => {
      await store.saveMerchant(event.data)
      admit()
    },
    'order.paid': tell,
    'order.underpaid': tell,
    'order.expired': tell,
    'order.cancelled': tell,
    'subscription.charged': tell,
    'subscription.cancelled': tell,
    'subscription.expired': tell,
  }
}
