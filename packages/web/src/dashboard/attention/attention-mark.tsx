import { Button } from '@mantine/core'
import type { AttentionItemBody } from '@ponte/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Allowed, api } from '../api'
import { Failure } from '../elements'
import { useNameOf } from '../team'
import { useWords } from '../texts'

/** Marks a case as handled, or shows it again. What is new about it since it was read is not marked unseen. */
export function AttentionMark({ item }: { item: AttentionItemBody }) {
  const { t, moment } = useWords()
  const queries = useQueryClient()
  const nameOf = useNameOf()
  const { id, facts, handled_at: handledAt, handled_by: handledBy } = item
  const work = useMutation({
    mutationFn: () => (handledAt || facts === undefined ? api.reopenAttention(id) : api.handleAttention(id, facts)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['attention'] }),
  })
  return (
    <div className="attention-mark">
      {handledAt && <span className="faint">{t.attention.handledAt(moment(handledAt), handledBy ? nameOf(handledBy) : null)}</span>}
      <Allowed to="orders:write">
        <Button variant="default" size="compact-sm" loading={work.isPending} onClick={() => work.mutate()}>
          {handledAt ? t.attention.reopen : t.attention.handle}
        </Button>
      </Allowed>
      {work.error && <Failure error={work.error} />}
    </div>
  )
}
