import type { ReplayDeliveries } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { DialogButton } from '../forms/dialog-button'
import { ChoiceField, Field, labelled } from '../forms/field'
import { required } from '../forms/rules'
import { useWords } from '../texts/words'

const DAY_MS = 86_400_000

/** Sends everything of a range again; one call takes a part, so it goes on where the last ended and shows its progress. */
export function ReplayRange({ onDone }: { onDone(): void }) {
  const { t } = useWords()
  return (
    <DialogButton variant="default" title={t.deliveries.replayRange}>
      {() => <RangeForm onDone={onDone} />}
    </DialogButton>
  )
}

async function replayAll(range: ReplayDeliveries, onProgress: (replayed: number) => void): Promise<void> {
  let replayed = 0
  let from: string | null = range.created_gte
  while (from !== null && from < range.created_lt) {
    const answer = await api.replayRange({ ...range, created_gte: from })
    replayed += answer.replayed
    onProgress(replayed)
    from = answer.has_more ? answer.next_created_gte : null
  }
}

const inputTime = (at: Date) => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

function RangeForm({ onDone }: { onDone(): void }) {
  const { t } = useWords()
  const [replayed, setReplayed] = useState(0)
  const replay = useMutation({
    mutationFn: (range: ReplayDeliveries) => replayAll(range, setReplayed),
    onMutate: () => setReplayed(0),
    onSuccess: onDone,
  })
  const submit = (text: FieldText) => {
    const moment = (name: string) => new Date(text(name)).toISOString()
    const scope = text('scope') === 'all' ? 'all' : 'undelivered'
    replay.mutate({ created_gte: moment('from'), created_lt: moment('to'), scope })
  }
  return (
    <CheckedForm rules={{ from: [required], to: [required] }} work={replay} onSubmit={submit} verb={t.deliveries.start} fullWidth>
      <p>{t.deliveries.replayRangeLead}</p>
      <Field name="from" type="datetime-local" label={t.deliveries.from} defaultValue={inputTime(new Date(Date.now() - DAY_MS))} />
      <Field name="to" type="datetime-local" label={t.deliveries.to} defaultValue={inputTime(new Date(Date.now() + 60_000))} />
      <ChoiceField
        name="scope"
        label={t.deliveries.scope}
        data={labelled({ undelivered: t.deliveries.scopes.undelivered, all: t.deliveries.scopes.all })}
      />

      <div role="status">{(replay.isSuccess || replayed > 0) && <p className="done">{t.deliveries.replayedCount(replayed)}</p>}</div>
    </CheckedForm>
  )
}
