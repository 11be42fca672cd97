import { Button } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { Allowed, api } from '../api'
import { Card, Columns, CopyValue, Failure } from '../elements'
import { Confirmed } from '../forms'
import { Heading, usePageTitle } from '../frame'
import { useWords } from '../texts'
import { BrandingCard } from './branding-card'
import { KeyContext } from './known-key'
import { FieldWarning, MerchantForm } from './merchant-form'
import { useMerchantSaved } from './merchant-saved'
import { PayoutAddress } from './payout-address'

export function SettingsPage({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  usePageTitle(t.settings.title)
  return (
    <>
      <Heading title={t.settings.title} />
      <Columns>
        <div>
          <Store merchant={merchant} />
          <PayoutAddress merchant={merchant} />
          <BrandingCard />
        </div>
        <div>
          <Allowed to="keys:write">
            <ApiKey />
          </Allowed>
          <WebhookSecret merchant={merchant} />
        </div>
      </Columns>
    </>
  )
}

function Store({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  const saved = useMerchantSaved()
  const update = useMutation({ mutationFn: api.updateMerchant, onSuccess: saved })
  return (
    <Card title={t.settings.store}>
      <MerchantForm
        merchant={merchant}
        submit={t.save}
        busy={update.isPending}
        error={update.error}
        onSubmit={body => update.mutate(body)}
      />
      <div role="status">
        {update.isSuccess && <p className="done">{t.saved}</p>}
        <FieldWarning merchant={merchant} field="webhook_url" />
      </div>
    </Card>
  )
}

function ApiKey() {
  const { t } = useWords()
  const { setKey } = useContext(KeyContext)
  const [fresh, setFresh] = useState<string | null>(null)
  return (
    <Card title={t.settings.key}>
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
    </Card>
  )
}

function WebhookSecret({ merchant }: { merchant: MerchantBody }) {
  const { t, exactMoment } = useWords()
  const [shown, setShown] = useState(false)
  const saved = useMerchantSaved()
  const rotate = useMutation({ mutationFn: api.rotateSecret, onSuccess: saved })
  const { pending_webhook_secret: pending, pending_webhook_secret_activates_at: activatesAt } = merchant
  if (merchant.webhook_secret === null) return null
  return (
    <Card title={t.settings.secret}>
      <p>{t.settings.secretText}</p>
      <div className="secret">
        <CopyValue value={merchant.webhook_secret} label={t.settings.secret} isHidden={!shown} />
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
    </Card>
  )
}
