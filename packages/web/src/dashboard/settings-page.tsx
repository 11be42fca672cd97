import { Button } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { api } from './api'
import { KeyContext } from './known-key'
import { MerchantForm, Warnings } from './merchant-form'
import { usePageTitle } from './page-title'
import { Confirmed } from './parts/confirmed'
import { CopyValue } from './parts/copy'
import { Failure, Heading } from './parts/states'
import { useWords } from './words'

export function SettingsPage({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  usePageTitle(t.settings.title)
  return (
    <>
      <Heading title={t.settings.title} />
      <div className="columns">
        <Store merchant={merchant} />
        <div>
          <ApiKey />
          <WebhookSecret merchant={merchant} />
        </div>
      </div>
    </>
  )
}

function useMerchantSaved() {
  const queries = useQueryClient()
  return (merchant: MerchantBody) => queries.setQueryData(['merchant'], merchant)
}

function Store({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  const saved = useMerchantSaved()
  const update = useMutation({ mutationFn: api.updateMerchant, onSuccess: saved })
  return (
    <section className="card">
      <h2>{t.settings.store}</h2>
      <MerchantForm merchant={merchant} submit={t.save} busy={update.isPending} onSubmit={body => update.mutate(body)} />
      {update.error && <Failure error={update.error} />}
      <div role="status">
        {update.isSuccess && <p className="done">{t.saved}</p>}
        <Warnings merchant={merchant} />
      </div>
    </section>
  )
}

function ApiKey() {
  const { t } = useWords()
  const { setKey } = useContext(KeyContext)
  const [fresh, setFresh] = useState<string | null>(null)
  return (
    <section className="card">
      <h2>{t.settings.key}</h2>
      <p>{t.settings.keyText}</p>
      {fresh && (
        <div className="secret" role="status">
          <p>{t.settings.newKey}</p>
          <CopyValue value={fresh} label={t.settings.key} />
        </div>
      )}
      <div className="buttons">
        <Confirmed
          action={t.settings.rotateKey}
          question={t.settings.rotateKeySure}
          work={api.rotateKey}
          onDone={({ api_key }) => {
            setFresh(api_key)
            setKey(api_key)
          }}
        />
      </div>
    </section>
  )
}

function WebhookSecret({ merchant }: { merchant: MerchantBody }) {
  const { t, exactMoment } = useWords()
  const [shown, setShown] = useState(false)
  const saved = useMerchantSaved()
  const rotate = useMutation({ mutationFn: api.rotateSecret, onSuccess: saved })
  const { pending_webhook_secret: pending, pending_webhook_secret_activates_at: activatesAt } = merchant
  return (
    <section className="card">
      <h2>{t.settings.secret}</h2>
      <p>{t.settings.secretText}</p>
      <div className="secret">
        <CopyValue
          value={merchant.webhook_secret}
          label={t.settings.secret}
          shown={shown ? merchant.webhook_secret : '••••••••••••••••••••'}
        />
      </div>
      {pending && (
        <div className="secret" role="status">
          <p>{activatesAt && t.settings.pending(exactMoment(activatesAt))}</p>
          <CopyValue value={pending} label={t.settings.pendingLabel} />
        </div>
      )}
      {rotate.error && <Failure error={rotate.error} />}
      <div className="buttons">
        <Button variant="default" onClick={() => setShown(!shown)}>
          {shown ? t.settings.hide : t.settings.show}
        </Button>
        {pending ? (
          <Confirmed action={t.settings.activate} question={t.settings.activateSure} work={api.activateSecret} onDone={saved} />
        ) : (
          <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
            {t.settings.rotateSecret}
          </Button>
        )}
      </div>
    </section>
  )
}
