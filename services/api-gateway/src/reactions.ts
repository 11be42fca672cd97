import { type Event, typesReadBy } from '@ponte/contracts'
import type { Reactions } from '@ponte/service-kit'
import { codeLetter } from './mail/code-letter'
import { eventNotice } from './mail/event-notice'
import type { Store } from './store'

export interface ReactionDeps {
  /** Null without a server for mail. */
  mails: Pick<Store['mails'], 'notify' | 'write'> | null
  /** Seals a text by the id of the mail that it stands in. */
  sealFor(id: string, text: string): string
  wake(): void
  now: () => Date
}

/** Events in: each is a mail, to the members who want it or to the payer who asked for it, and nothing without a server for mail. */
export function reactions({ mails, sealFor, wake, now }: ReactionDeps): Reactions {
  const notify = async (event: Event) => {
    const notice = eventNotice(event)
    if (!notice || !mails) return
    await mails.notify(event.id, notice)
    wake()
  }
  return {
    ...Object.fromEntries(typesReadBy('api-gateway').map(type => [type, notify])),
    async 'refund_claim.code_issued'({ id, data, occurred_at }) {
      if (!mails || now() >= new Date(data.expires_at)) return
      await mails.write(id, codeLetter(data, { id, at: new Date(occurred_at), seal: code => sealFor(id, code) }))
      wake()
    },
  }
}
