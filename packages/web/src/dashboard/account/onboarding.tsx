import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useContext } from 'react'
import { api, logOut } from '../api'
import { CopyValue } from '../elements'
import { FieldWarning, KeyContext, MerchantForm } from '../settings'
import { useWords } from '../texts'
import { Door } from './door'

/** The first minute: a store, and the key that is shown once. */
export function Onboarding({ onCreated, onDone }: { onCreated(): void; onDone(): void }) {
  const { t } = useWords()
  const queries = useQueryClient()
  const { key, setKey } = useContext(KeyContext)
  const create = useMutation({
    mutationFn: api.createMerchant,
    onSuccess: ({ api_key, ...merchant }) => {
      setKey(api_key)
      onCreated()
      queries.setQueryData(['merchant'], merchant)
    },
  })
  return (
    <Door>
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
          <MerchantForm
            merchant={null}
            submit={t.onboarding.create}
            busy={create.isPending}
            error={create.error}
            onSubmit={body => create.mutate(body)}
          />
          <button type="button" className="plain" onClick={() => void logOut()}>
            {t.logOut}
          </button>
        </>
      )}
    </Door>
  )
}
