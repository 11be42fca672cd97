import { Button, NativeSelect } from '@mantine/core'
import { type Ref, useState } from 'react'
import { usdcFrom } from '../../reais'
import { Card } from '../elements/card'
import { CheckedForm, type FieldText } from '../forms/checked-form'
import { Field } from '../forms/field'
import { type Rule, required } from '../forms/rules'
import { useWords } from '../texts/words'
import { type Chosen, sumOf } from './chosen'
import { type DossierFormat, FileList, isDossier, useMakeExport } from './ledger-files'

const FORMATS: readonly DossierFormat[] = ['dossier_pdf', 'dossier_json']

interface OriginDossierProps {
  ref: Ref<HTMLElement>
  /** That a sum left; the first by default. */
  network: string | undefined
  chosen: Chosen
  onClear(): void
}

/** Where the USDC of a withdrawal came from, for the exchange that asks. */
export function OriginDossier({ ref, network, chosen, onClear }: OriginDossierProps) {
  const { t, language, usdc } = useWords()
  const [format, setFormat] = useState<DossierFormat>('dossier_pdf')
  const make = useMakeExport()
  const isAmount: Rule = { fault: 'tolerance', holds: text => usdcFrom(text, language) !== null }
  const isOfAmount = chosen.size === 0
  const submit = (text: FieldText) =>
    isOfAmount
      ? make.mutate({ format, amount: usdcFrom(text('amount'), language) ?? '', ...(network ? { chain_id: Number(network) } : {}) })
      : make.mutate({ format, entries: [...chosen.keys()] }, { onSuccess: onClear })
  return (
    <Card title={t.dossier.title} ref={ref}>
      <p className="faint">{t.dossier.lead}</p>
      <CheckedForm
        key={String(isOfAmount)}
        rules={{ amount: isOfAmount ? [required, isAmount] : [] }}
        work={make}
        onSubmit={submit}
        verb={t.dossier.make}
      >
        {isOfAmount ? (
          <Field
            name="amount"
            label={t.dossier.amount}
            description={t.dossier.amountHint}
            placeholder={language === 'pt' ? '250,00' : '250.00'}
            inputMode="decimal"
            maxLength={20}
          />
        ) : (
          <p className="chosen-sum">
            <strong>{t.dossier.chosen(chosen.size, usdc(sumOf(chosen)))}</strong>
            <Button variant="default" size="xs" onClick={onClear}>
              {t.dossier.clear}
            </Button>
          </p>
        )}
        <NativeSelect
          label={t.files.format}
          value={format}
          onChange={({ target }) => setFormat(FORMATS.find(each => each === target.value) ?? 'dossier_pdf')}
          data={FORMATS.map(value => ({ value, label: t.dossier.formats[value] }))}
        />
      </CheckedForm>
      <FileList isListed={isDossier} />
    </Card>
  )
}
