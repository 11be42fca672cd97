import type { FiscalDocumentBody, FiscalDocumentInput, FiscalKind } from '@ponte/contracts'
import { faultOfFiscalKey, groupedFiscalKey, normalizeFiscalKey } from '@ponte/contracts/fiscal-key'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Allowed } from '../api/use-memberships'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Facts } from '../elements/facts'
import { CheckedForm } from '../forms/checked-form'
import { Confirmed } from '../forms/confirmed'
import { DialogButton } from '../forms/dialog-button'
import { ChoiceField, Field, labelled } from '../forms/field'
import type { Rule } from '../forms/rules'
import { useNameOf } from '../team/use-team'
import { useWords } from '../texts/words'

interface DocumentCardProps {
  document: FiscalDocumentBody | undefined
  /** Null removes it. */
  save(document: FiscalDocumentInput | null): Promise<unknown>
  onDone(): void
}

export function DocumentCard({ document, save, onDone }: DocumentCardProps) {
  const { t } = useWords()
  return (
    <Card title={t.invoicing.document}>
      {document ? <Known document={document} /> : <p className="faint">{t.invoicing.noDocument}</p>}
      <Allowed to="updateOrder">
        <div className="buttons">
          <DialogButton size="compact-sm" title={document ? t.invoicing.changeDocument : t.invoicing.nameDocument}>
            {close => (
              <DocumentForm
                document={document}
                save={save}
                onDone={() => {
                  onDone()
                  close()
                }}
              />
            )}
          </DialogButton>
          {document && (
            <Confirmed action={t.invoicing.removeDocument} question={t.invoicing.removeSure} work={() => save(null)} onDone={onDone} />
          )}
        </div>
      </Allowed>
    </Card>
  )
}

function Known({ document: { kind, key, set_at, set_by } }: { document: FiscalDocumentBody }) {
  const { t, exactMoment } = useWords()
  const nameOf = useNameOf()
  return (
    <Facts
      rows={[
        [t.invoicing.kind, t.invoicing.kinds[kind]],
        [t.invoicing.key, <CopyValue key="key" value={key} label={t.invoicing.key} shown={groupedFiscalKey(key)} />],
        [t.invoicing.setAt, exactMoment(set_at)],
        [t.invoicing.setBy, set_by === null ? t.invoicing.byKey : nameOf(set_by)],
      ]}
    />
  )
}

function DocumentForm({ document, save, onDone }: DocumentCardProps) {
  const { t } = useWords()
  const [kind, setKind] = useState<FiscalKind>(document?.kind ?? 'nfe')
  const saving = useMutation({ mutationFn: save, onSuccess: onDone })
  const isKey: Rule = { fault: 'fiscalKey', holds: text => faultOfFiscalKey(kind, normalizeFiscalKey(text)) === null }
  return (
    <CheckedForm
      rules={{ 'fiscal_document.key': [isKey] }}
      work={saving}
      onSubmit={text => saving.mutate({ kind, key: text('fiscal_document.key') })}
      verb={t.save}
      fullWidth
    >
      <ChoiceField
        name="kind"
        label={t.invoicing.kind}
        value={kind}
        onChange={event => setKind(event.currentTarget.value === 'nfse' ? 'nfse' : 'nfe')}
        data={labelled(t.invoicing.kinds)}
      />
      <Field
        name="fiscal_document.key"
        label={t.invoicing.key}
        description={t.invoicing.keyHint}
        maxLength={100}
        data-autofocus
        defaultValue={document ? groupedFiscalKey(document.key) : ''}
      />
    </CheckedForm>
  )
}
