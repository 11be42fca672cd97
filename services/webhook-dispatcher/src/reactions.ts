import { type Event, typesReadBy } from '@ponte/contracts'
import { currentTraceparent, type Reactions, RetryableError } from '@ponte/service-kit'
import { toWebhook } from './delivery/webhook'
import type { Store } from './store'

export interface ReactionDeps {
  store: Store
  /** Called when something is due in this lane. */
  due(endpointId: string): void
  /** Called when an event can be pulled. */
  stored(merchantId: string): void
  /** Called when an event waits for its merchant, or a merchant has come. */
  admit(): void
}

/** Events in: each is stored as the merchant's webhook, due now. */
export function reactions({ store, due, admit, stored }: ReactionDeps): Reactions {
  const notify = async (event: Event) => {
    const webhook = toWebhook(event)
    if (!webhook) return
    const { waits, lanes } = await store.events.save({
      ...webhook,
      id: event.id,
      occurredAt: event.occurred_at,
      trace: currentTraceparent(),
    })
    for (const endpointId of lanes) due(endpointId)
    stored(webhook.merchantId)
    if (waits) admit()
  }
  return {
    ...Object.fromEntries(typesReadBy('webhook-dispatcher').map(type => [type, notify])),
    'merchant.updated': async event => {
      await store.merchants.save(event.data)
      admit()
    },
    'account.changed': async event => {
      const { merchant_id, merchant_version, account } = event.data
      if (account.action === 'merchant.freeze') {
        // From its version on no change that was on its way is written any more.
        const known = await store.merchants.find(merchant_id)
        if (known && known.version < merchant_version) throw new RetryableError('The merchant is not known in the version that was frozen.')
        await store.endpoints.dropPending(merchant_id, new Date(account.created_at))
      }
      await notify(event)
    },
  }
}
