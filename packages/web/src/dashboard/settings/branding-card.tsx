import { Button, FileInput } from '@mantine/core'
import type { BrandingBody } from '@ponte/contracts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { Allowed, useMay } from '../api/use-memberships'
import { Card } from '../elements/card'
import { Failure } from '../elements/states'
import { CheckedForm } from '../forms/checked-form'
import { optionalColor, optionalEmail, returnUrl } from '../forms/rules'
import { useWords } from '../texts/words'
import { logoFrom } from './logo-file'
import './branding-card.css'
import { Field } from '../forms/field'

export function BrandingCard() {
  const { t } = useWords()
  const { data, error } = useQuery({ queryKey: ['branding'], queryFn: api.branding })
  return (
    <Card title={t.branding.title}>
      <p className="branding-text">{t.branding.text}</p>
      {error && <Failure error={error} />}
      {data && <BrandingForm branding={data} />}
    </Card>
  )
}

function BrandingForm({ branding }: { branding: BrandingBody }) {
  const { t } = useWords()
  const queries = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const [isUnreadable, setUnreadable] = useState(false)
  const mayChange = useMay('updateBranding')
  const update = useMutation({
    mutationFn: api.updateBranding,
    onSuccess: saved => {
      queries.setQueryData(['branding'], saved)
      setFile(null)
    },
  })
  const submit = async (fields: object) => {
    const logo = file && (await logoFrom(file))
    setUnreadable(file !== null && logo === null)
    if (file === null || logo !== null) update.mutate({ ...fields, ...(logo ? { logo } : {}) })
  }
  return (
    <>
      {branding.logo_url && (
        <div className="logo-now">
          <img src={branding.logo_url} alt={t.branding.logo} width="56" height="56" />
          <Allowed to="updateBranding">
            <Button variant="default" loading={update.isPending} onClick={() => update.mutate({ logo: null })}>
              {t.branding.removeLogo}
            </Button>
          </Allowed>
        </div>
      )}
      <CheckedForm
        rules={{ color: [optionalColor], contact_email: [optionalEmail], terms_url: [returnUrl] }}
        work={update}
        isReadOnly={!mayChange}
        onSubmit={text =>
          void submit({
            color: text('color') || null,
            contact_email: text('contact_email') || null,
            terms_url: text('terms_url') || null,
          })
        }
        verb={t.branding.save}
      >
        <FileInput
          label={t.branding.logo}
          description={t.branding.logoHint}
          placeholder={t.branding.choose}
          accept="image/png,image/jpeg,image/webp"
          value={file}
          onChange={setFile}
          error={isUnreadable ? t.branding.unreadable : undefined}
          clearable
        />
        <Field
          name="color"
          label={t.branding.color}
          description={t.branding.colorHint}
          placeholder="#0e6b54"
          defaultValue={branding.color ?? ''}
          maxLength={7}
          spellCheck={false}
        />
        <Field
          name="contact_email"
          type="email"
          label={t.branding.contact}
          description={t.branding.contactHint}
          defaultValue={branding.contact_email ?? ''}
          maxLength={254}
        />
        <Field
          name="terms_url"
          type="url"
          label={t.branding.terms}
          placeholder="https://"
          defaultValue={branding.terms_url ?? ''}
          maxLength={2048}
        />
      </CheckedForm>
      <div role="status">{update.isSuccess && <p className="done">{t.saved}</p>}</div>
    </>
  )
}
