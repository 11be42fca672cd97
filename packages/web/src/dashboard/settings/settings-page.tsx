import { Button } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { api } from '../api/api'
import { Allowed, useMay, useRole } from '../api/use-memberships'
import { Card, Columns } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Failure } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { EraseCustomersCard } from '../invoicing/erase-customers'
import { useWords } from '../texts/words'
import { BrandingCard } from './branding-card'
import { PaymentTolerance, RefundApproval } from './chosen-amount'
import { KeyContext } from './known-key'
import { FieldWarning, MerchantForm } from './merchant-form'
import { useMerchantSaved } from './merchant-saved'
import { PaymentNetworks } from './payment-networks'
import { PayoutAddress } from './payout-address'

export function SettingsPage({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  usePageTitle(t.settings.title)
  const [role, mayChange] = [useRole(), useMay('updateMerchant')]
  return (
    <>
      <Heading title={t.settings.title} />
      {role && !mayChange && <p className="lead">{t.settings.readOnly(t.team.roles[role])}</p>}
      <Columns>
        <div>
          <Store merchant={merchant} />
          <PayoutAddress merchant={merchant} />
          <PaymentTolerance merchant={merchant} />
          <RefundApproval merchant={merchant} />
          <PaymentNetworks merchant={merchant} />
          <BrandingCard />
        </div>
        <div>
          <Allowed to="rotateKey">
            <ApiKey />
          </Allowed>
          <Allowed to="rotateWebhookSecret">
            <WebhookSecret merchant={merchant} />
          </Allowed>
          <EraseCustomersCard />
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
      <MerchantForm merchant={merchant} submit={t.save} work={update} onSubmit={body => update.mutate(body)} />
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
  const show = useMutation({ mutationFn: api.merchantSecrets })
  const saved = useMerchantSaved()
  const rotate = useMutation({ mutationFn: api.rotateSecret, onSuccess: saved })
  const { pending_webhook_secret: pending, pending_webhook_secret_activates_at: activatesAt } = merchant
  const secret = show.data?.webhook_secret
  return (
    <Card title={t.settings.secret}>
      <p>{t.settings.secretText}</p>
      {secret && (
        <div className="secret" role="status">
          <CopyValue value={secret} label={t.settings.secret} />
        </div>
      )}
      {show.data && !secret && (
        <p className="warning" role="status">
          {t.failures.fresh_login_required}
        </p>
      )}
      {show.error && <Failure error={show.error} />}
      {pending && (
        <div className="secret" role="status">
          <p>{activatesAt && t.settings.pending(exactMoment(activatesAt))}</p>
          <CopyValue value={pending} label={t.settings.pendingLabel} />
        </div>
      )}
      {rotate.error && <Failure error={rotate.error} />}
      <div className="buttons">
        <Button variant="default" loading={show.isPending} onClick={() => (secret ? show.reset() : show.mutate())}>
          {secret ? t.settings.hide : t.settings.show}
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
