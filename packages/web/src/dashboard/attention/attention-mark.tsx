import type { AttentionItemBody } from '@ponte/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { CheckedForm } from '../forms/checked-form'
import { Field } from '../forms/field'
import { useNameOf } from '../team/use-team'
import { useWords } from '../texts/words'
import { AcceptOrder } from './accept-order'
import { AttachPayment } from './attach-payment'
import { RecoverToken } from './recover-token'

/** Acts about a case, those of before and those that are open: the money is accepted, or the case is marked as handled or shown again. What is new about it since it was read is not marked unseen. */
export function AttentionMark({ item, onDone }: { item: AttentionItemBody; onDone(): void }) {
  const { t, moment } = useWords()
  const queries = useQueryClient()
  const nameOf = useNameOf()
  const { id, order, gross, actions = [], foreign_token: foreign, facts, handled_at: handledAt } = item
  const refresh = () => queries.invalidateQueries({ queryKey: ['attention'] })
  const done = () => {
    onDone()
    void refresh()
  }
  const work = useMutation({
    mutationFn: (note: string) => (handledAt || facts === undefined ? api.reopenAttention(id) : api.handleAttention(id, facts, note)),
    onSuccess: onDone,
    onSettled: refresh,
  })
  const who = (by: string | null | undefined) => (by ? nameOf(by) : null)
  const { accepted } = order ?? {}
  return (
    <>
      {accepted && (
        <p className="faint">
          {t.attention.acceptedAt(moment(accepted.at), who(accepted.by))} “{accepted.reason}”
        </p>
      )}
      {handledAt && (
        <p className="faint">
          {t.attention.handledAt(moment(handledAt), who(item.handled_by))} {item.handled_note && `“${item.handled_note}”`}
        </p>
      )}
      {order && actions.includes('accept') && (
        <Allowed to="acceptOrder">
          <div className="buttons">
            <AcceptOrder order={order} gross={gross} onDone={done} />
          </div>
        </Allowed>
      )}
      {actions.includes('attach') && (
        <Allowed to="attachAttention">
          <div className="buttons">
            <AttachPayment item={item} onDone={done} />
          </div>
        </Allowed>
      )}
      {order && foreign && actions.includes('recover') && (
        <Allowed to="createRecovery">
          <div className="buttons">
            <RecoverToken orderId={order.id} token={foreign} onDone={refresh} />
          </div>
        </Allowed>
      )}
      <Allowed to="handleAttention">
        <CheckedForm
          rules={{}}
          work={work}
          onSubmit={text => work.mutate(text('note'))}
          verb={handledAt ? t.attention.reopen : t.attention.handle}
          variant="default"
          size="compact-sm"
          aria-keyshortcuts="h"
        >
          {!handledAt && <Field name="note" label={t.attention.note} maxLength={500} />}
        </CheckedForm>
      </Allowed>
    </>
  )
}
