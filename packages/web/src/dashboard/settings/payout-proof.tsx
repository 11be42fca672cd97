import { Button } from '@mantine/core'
import type { MerchantBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { useWallets, type Wallet } from '../../wallet/provider'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Failure } from '../elements/states'
import { NotSigned, textSignedBy } from '../refunds/sign'
import { useWords } from '../texts/words'
import { useMerchantSaved } from './merchant-saved'

interface Props {
  address: string
  proof: NonNullable<MerchantBody['payout_proof']>
}

/** That the key of the address in force signed it, or the wallets that can. */
export function PayoutProof({ address, proof }: Props) {
  const { t, exactMoment } = useWords()
  if (proof.signed_at !== null) return <p className="faint">{t.payout.proven(exactMoment(proof.signed_at))}</p>
  return (
    <Allowed to="signPayoutAddress">
      <Sign address={address} proof={proof} />
    </Allowed>
  )
}

function Sign({ address, proof }: Props) {
  const { t } = useWords()
  const wallets = useWallets()
  const saved = useMerchantSaved()
  const work = useMutation({
    mutationFn: async ({ provider }: Wallet) => api.signPayoutAddress(await textSignedBy(provider, address, proof.message)),
    onSuccess: saved,
  })
  return (
    <div className="secret">
      <p>{t.payout.prove}</p>
      {wallets.length === 0 && <p className="faint">{t.payout.noWallet}</p>}
      <div className="buttons">
        {wallets.map(wallet => (
          <Button key={wallet.name} variant="default" loading={work.isPending} onClick={() => work.mutate(wallet)}>
            {t.payout.proveWith(wallet.name)}
          </Button>
        ))}
      </div>
      {work.isPending && <p role="status">{t.refunds.waiting}</p>}
      {work.error instanceof NotSigned ? (
        <p role="alert">{t.refunds.refusals[work.error.reason]}</p>
      ) : (
        work.error && <Failure error={work.error} />
      )}
    </div>
  )
}
