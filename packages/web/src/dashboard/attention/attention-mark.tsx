import { Button } from '@mantine/core'
import type { AttentionItemBody } from '@ponte/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Failure } from '../elements/states'
import { useNameOf } from '../team/use-team'
import { useWords } from '../texts/words'
import { AcceptOrder } from './accept-order'

/** What can be done about a case: the money is accepted, or the case is marked as handled or shown again. What is new about it since it was read is not marked unseen. */
export function AttentionMark({ item }: { item: AttentionItemBody }) {
  const { t, moment } = useWords()
  const queries = useQueryClient()
  const nameOf = useNameOf()
  const { id, order, gross, actions = [], facts, handled_at: handledAt, handled_by: handledBy } = item
  const refresh = () => queries.invalidateQueries({ queryKey: ['attention'] })
  const work = useMutation({
    mutationFn: () => (handledAt || facts === undefined ? api.reopenAttention(id) : api.handleAttention(id, facts)),
    onSettled: refresh,
  })
  return (
    <div className="attention-mark">
      {handledAt && <span className="faint">{t.attention.handledAt(moment(handledAt), handledBy ? nameOf(handledBy) : null)}</span>}
      {order && actions.includes('accept') && (
        <Allowed to="acceptOrder">
          <AcceptOrder order={order} gross={gross} onDone={() => void refresh()} />
        </Allowed>
      )}
      <Allowed to="handleAttention">
        <Button variant="default" size="compact-sm" loading={work.isPending} onClick={() => work.mutate()}>
          {handledAt ? t.attention.reopen : t.attention.handle}
        </Button>
      </Allowed>
      {work.error && <Failure error={work.error} />}
    </div>
  )
}
