import type { ForeignTokenBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { api } from '../api/api'
import { CopyValue } from '../elements/copy'
import { Facts } from '../elements/facts'
import { CheckedForm } from '../forms/checked-form'
import { DialogButton } from '../forms/dialog-button'
import { useWords } from '../texts/words'

interface RecoverTokenProps {
  orderId: string
  token: ForeignTokenBody
  onDone(): void
}

/** Sends a token on from the order's address to the payout address, which is shown in full. */
export function RecoverToken(of: RecoverTokenProps) {
  const { t } = useWords()
  return (
    <DialogButton size="compact-sm" title={t.attention.acts.recover}>
      {close => <Destination {...of} onClose={close} />}
    </DialogButton>
  )
}

function Destination({ orderId, token, onDone, onClose }: RecoverTokenProps & { onClose(): void }) {
  const { t } = useWords()
  const work = useMutation({
    mutationFn: () => api.recover(orderId, token),
    onSuccess: () => {
      onClose()
      onDone()
    },
  })
  return (
    <CheckedForm rules={{}} work={work} onSubmit={() => work.mutate()} verb={t.attention.recoverThere} onCancel={onClose}>
      <p>{t.attention.recoverSure}</p>
      <TokenFacts token={token} />
      <p className="mono whole">{token.destination}</p>
      <p>{t.attention.recoverWorthless}</p>
    </CheckedForm>
  )
}

/** By its address, for its name is whatever a stranger wrote. */
export function TokenFacts({ token: { token_address: address, amount, destination } }: { token: ForeignTokenBody }) {
  const { t, coin } = useWords()
  return (
    <Facts
      rows={[
        [t.attention.token, address === null ? t.attention.coin : <CopyValue key="token" value={address} label={t.attention.token} />],
        [t.attention.tokenAmount, address === null ? coin(amount) : t.attention.units(amount)],
        [t.attention.goesTo, <CopyValue key="destination" value={destination} label={t.attention.goesTo} />],
      ]}
    />
  )
}
