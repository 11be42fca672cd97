import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useContext } from 'react'
import { api } from '../api/api'
import { logOut } from '../api/session'
import { CopyValue } from '../elements/copy'
import { KeyContext } from '../settings/known-key'
import { FieldWarning, MerchantForm } from '../settings/merchant-form'
import { useWords } from '../texts/words'
import { Door } from './door'

/** The first minute: a store, and the key that is shown once. */
export function Onboarding({ onCreated, onDone, children }: { onCreated(): void; onDone(): void; children?: ReactNode }) {
  const { t } = useWords()
  const queries = useQueryClient()
  const { key, setKey } = useContext(KeyContext)
  const create = useMutation({
    mutationFn: api.createMerchant,
    onSuccess: ({ api_key, ...merchant }) => {
      setKey(api_key)
      onCreated()
      queries.setQueryData(['merchant'], merchant)
      // The first store makes the user its owner.
      void queries.invalidateQueries({ queryKey: ['memberships'] })
    },
  })
  return (
    <Door>
      {children}
      {key !== null && create.isSuccess ? (
        <>
          <h1>{t.onboarding.keyTitle}</h1>
          <p className="lead">{t.settings.newKey}</p>
          <div className="secret">
            <CopyValue value={key} label={t.settings.key} />
          </div>
          <FieldWarning merchant={create.data} field="webhook_url" />
          <FieldWarning merchant={create.data} field="payout_address" />
          <Button size="md" fullWidth onClick={onDone}>
            {t.onboarding.goOn}
          </Button>
        </>
      ) : (
        <>
          <h1>{t.onboarding.title}</h1>
          <p className="lead">{t.onboarding.lead}</p>
          <MerchantForm merchant={null} submit={t.onboarding.create} work={create} onSubmit={body => create.mutate(body)} />
          <p className="faint">{t.onboarding.invited}</p>
          <button type="button" className="plain" onClick={() => void logOut()}>
            {t.logOut}
          </button>
        </>
      )}
    </Door>
  )
}
