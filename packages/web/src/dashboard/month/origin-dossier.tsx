import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { usdcFrom } from '../../reais'
import { Card } from '../elements/card'
import { CheckedForm } from '../forms/checked-form'
import { type Rule, required } from '../forms/rules'
import { useWords } from '../texts/words'
import { type DossierFormat, FileList, isDossier, useMakeExport } from './ledger-files'

const FORMATS: readonly DossierFormat[] = ['dossier_pdf', 'dossier_json']

/** Where the USDC of a withdrawal came from, for the exchange that asks. */
export function OriginDossier() {
  const { t, language } = useWords()
  const [format, setFormat] = useState<DossierFormat>('dossier_pdf')
  const make = useMakeExport()
  const isAmount: Rule = { fault: 'tolerance', holds: text => usdcFrom(text, language) !== null }
  return (
    <Card title={t.dossier.title}>
      <p className="faint">{t.dossier.lead}</p>
      <CheckedForm
        rules={{ amount: [required, isAmount] }}
        error={make.error}
        onSubmit={text => make.mutate({ format, amount: usdcFrom(text('amount'), language) ?? '' })}
        action={
          <Button type="submit" loading={make.isPending}>
            {t.dossier.make}
          </Button>
        }
      >
        {faultOf => (
          <>
            <TextInput
              name="amount"
              label={t.dossier.amount}
              description={t.dossier.amountHint}
              placeholder={language === 'pt' ? '250,00' : '250.00'}
              inputMode="decimal"
              autoComplete="off"
              maxLength={20}
              error={faultOf('amount')}
            />
            <NativeSelect
              label={t.files.format}
              value={format}
              onChange={({ target }) => setFormat(FORMATS.find(each => each === target.value) ?? 'dossier_pdf')}
              data={FORMATS.map(value => ({ value, label: t.dossier.formats[value] }))}
            />
          </>
        )}
      </CheckedForm>
      <FileList isListed={isDossier} />
    </Card>
  )
}
