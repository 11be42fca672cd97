import { Checkbox } from '@mantine/core'
import type { UpdateEndpoint, WebhookEndpointBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { ChoiceField, Field, LongField, labelled } from '../forms/field'
import { type Rule, required, webUrl } from '../forms/rules'
import { useWords } from '../texts/words'
import { headersFrom } from './headers-from'
import { useEndpointsChanged } from './use-endpoints'

const isLimit: Rule = { fault: 'limit', holds: text => /^\d*$/.test(text) && (text === '' || (Number(text) >= 1 && Number(text) <= 128)) }
const areHeaders: Rule = { fault: 'headers', holds: text => headersFrom(text) !== null }
const isTaken: Rule = { fault: 'endpointUrl', holds: webUrl.holds }

/** Adds an endpoint, or changes the one that is given. */
export function EndpointForm({ endpoint, onDone }: { endpoint: WebhookEndpointBody | null; onDone(): void }) {
  const { t } = useWords()
  const changed = useEndpointsChanged()
  const [chosen, setChosen] = useState<readonly string[]>(endpoint?.events ?? ['*'])
  const save = useMutation({
    mutationFn: (body: object) => (endpoint ? api.updateEndpoint(endpoint.id, body) : api.createEndpoint(body)),
    onSuccess: () => {
      changed()
      onDone()
    },
  })
  const submit = (text: FieldText) => {
    const headers = text('headers')
    const body: Record<keyof Omit<UpdateEndpoint, 'paused' | 'headers'>, unknown> & { headers?: object } = {
      url: text('url'),
      description: text('description') || null,
      format: text('format'),
      events: chosen,
      max_in_flight: text('max_in_flight') === '' ? null : Number(text('max_in_flight')),
      ...(headers === '' ? {} : { headers: headersFrom(headers) ?? {} }),
    }
    save.mutate(body)
  }
  const kinds = Object.entries(t.deliveries.types).filter(([kind]) => kind !== 'endpoint.test')
  const isAll = chosen.includes('*')
  const toggle = (kind: string) => setChosen(chosen.includes(kind) ? chosen.filter(each => each !== kind) : [...chosen, kind])
  return (
    <CheckedForm
      rules={{ url: [required, isTaken], description: [], max_in_flight: [isLimit], headers: [areHeaders] }}
      work={save}
      onSubmit={submit}
      verb={endpoint ? t.save : t.endpoints.add}
      disabled={chosen.length === 0}
      fullWidth
    >
      <Field
        name="url"
        type="url"
        label={t.endpoints.url}
        placeholder="https://"
        defaultValue={endpoint?.url ?? ''}
        maxLength={2048}
        data-autofocus
      />
      <Field
        name="description"
        label={t.endpoints.description}
        description={t.endpoints.descriptionHint}
        defaultValue={endpoint?.description ?? ''}
        maxLength={200}
      />
      <fieldset className="kinds">
        <legend>{t.endpoints.events}</legend>
        <Checkbox
          className="every"
          label={t.endpoints.allEvents}
          checked={isAll}
          onChange={() => setChosen(isAll ? kinds.map(([kind]) => kind) : ['*'])}
        />
        {!isAll &&
          kinds.map(([kind, label]) => <Checkbox key={kind} label={label} checked={chosen.includes(kind)} onChange={() => toggle(kind)} />)}
        {chosen.length === 0 && <p className="warning">{t.endpoints.eventsFault}</p>}
      </fieldset>
      <ChoiceField
        name="format"
        label={t.endpoints.format}
        description={t.endpoints.formatHint}
        defaultValue={endpoint?.format ?? 'ponte'}
        data={labelled(t.endpoints.formats)}
      />
      <LongField
        name="headers"
        label={t.endpoints.headers}
        description={endpoint?.header_names.length ? t.endpoints.headersKept(endpoint.header_names.join(', ')) : t.endpoints.headersHint}
        autosize
        minRows={2}
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        name="max_in_flight"
        label={t.endpoints.maxInFlight}
        description={t.endpoints.maxInFlightHint}
        defaultValue={endpoint?.max_in_flight ?? ''}
        inputMode="numeric"
      />
    </CheckedForm>
  )
}
