import { Button } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { userId } from '../api/session'
import { Allowed, useMemberships } from '../api/use-memberships'
import { useNetworkName } from '../api/use-networks'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { CheckedForm } from '../forms/checked-form'
import { Confirmed } from '../forms/confirmed'
import { DialogButton } from '../forms/dialog-button'
import { AddressField } from '../forms/field'
import { address, required } from '../forms/rules'
import { useWords } from '../texts/words'
import { FieldWarning } from './merchant-form'
import { useMerchantSaved } from './merchant-saved'
import { NetworkPayouts } from './network-payouts'
import { PayoutProof } from './payout-proof'

/** Where the merchant's money goes: shown whole, and changed by a dialog of its own that shows the old and the new address. */
export function PayoutAddress({ merchant }: { merchant: MerchantBody }) {
  const { t } = useWords()
  const saved = useMerchantSaved()
  const current = merchant.payout_address
  const action = current === null ? t.payout.set : t.payout.change
  return (
    <Card title={t.fields.payout}>
      <p>{t.fields.payoutHint}</p>
      {current === null ? (
        <p className="warning">{t.payout.none}</p>
      ) : (
        <div className="secret">
          <CopyValue value={current} label={t.fields.payout} />
        </div>
      )}
      <div role="status">
        <FieldWarning merchant={merchant} field="payout_address" />
      </div>
      {current !== null && merchant.payout_proof && <PayoutProof address={current} proof={merchant.payout_proof} />}
      <NetworkPayouts merchant={merchant} />
      {merchant.pending_payout_change && <Waiting merchantId={merchant.id} change={merchant.pending_payout_change} />}
      <Allowed to="signPayoutChange">
        <div className="buttons">
          <DialogButton variant={current === null ? 'filled' : 'default'} title={action}>
            {close => (
              <Change
                current={current}
                action={action}
                onDone={next => {
                  saved(next)
                  close()
                }}
              />
            )}
          </DialogButton>
          {current !== null && (
            <Confirmed
              action={t.payout.remove}
              question={t.payout.removeSure}
              work={() => api.updateMerchant({ payout_address: null })}
              onDone={saved}
            />
          )}
        </div>
      </Allowed>
    </Card>
  )
}

/** A change that is not in force yet: anyone of the merchant can cancel it, and another owner approve it. */
function Waiting({ merchantId, change }: { merchantId: string; change: NonNullable<MerchantBody['pending_payout_change']> }) {
  const { t, exactMoment } = useWords()
  const saved = useMerchantSaved()
  const memberships = useMemberships().data ?? []
  const isOwner = memberships.some(({ merchant_id, role }) => merchant_id === merchantId && role === 'owner')
  const network = useNetworkName()(change.chain_id ?? null)
  const mayApprove = isOwner && !change.is_approved && change.requested_by !== userId()
  return (
    <div className="secret" role="status">
      <p className="warning">{t.payout.waiting(exactMoment(change.activates_at))}</p>
      {network !== null && <p>{t.payout.own.on(network)}</p>}
      <CopyValue value={change.payout_address} label={t.payout.next} />
      {change.is_approved && <p className="faint">{t.payout.approved}</p>}
      <div className="buttons">
        {mayApprove && (
          <Confirmed
            action={t.payout.approve}
            question={t.payout.approveSure(change.payout_address)}
            work={() => api.approvePayoutChange(change.id)}
            onDone={saved}
          />
        )}
        <Allowed to="cancelPayoutChange">
          <Confirmed
            action={t.payout.withdraw}
            question={t.payout.withdrawSure}
            work={() => api.cancelPayoutChange(change.id)}
            onDone={saved}
          />
        </Allowed>
      </div>
    </div>
  )
}

function Change({ current, action, onDone }: { current: string | null; action: string; onDone(merchant: MerchantBody): void }) {
  const { t } = useWords()
  const [typed, setTyped] = useState('')
  const [isReviewed, setReviewed] = useState(false)
  const update = useMutation({
    mutationFn: api.updateMerchant,
    onSuccess: onDone,
    // The complaint stands at the field.
    onError: () => setReviewed(false),
  })
  if (!isReviewed) {
    return (
      <CheckedForm rules={{ payout_address: [required, address] }} work={update} onSubmit={() => setReviewed(true)} verb={t.goOn} fullWidth>
        <AddressField
          name="payout_address"
          label={t.payout.fresh}
          description={t.payout.freshHint}
          data-autofocus
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
      </CheckedForm>
    )
  }
  const rows: [string, string][] = [
    [t.payout.now, current ?? t.none],
    [t.payout.next, typed.trim()],
  ]
  return (
    <>
      <p>
        {t.payout.sure} {current === null ? t.payout.first : t.payout.later}
      </p>
      {rows.map(([label, shown]) => (
        <div key={label} className="secret">
          <p className="faint">{label}</p>
          <code>{shown}</code>
        </div>
      ))}
      <div className="buttons">
        <Button variant="default" onClick={() => setReviewed(false)}>
          {t.cancel}
        </Button>
        <Button color="red" loading={update.isPending} onClick={() => update.mutate({ payout_address: typed.trim() })}>
          {action}
        </Button>
      </div>
    </>
  )
}
