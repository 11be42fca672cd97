import { Button } from '@mantine/core'
import type { RefundBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { shortened } from '../../amounts'
import { useWallets, type Wallet } from '../../wallet/provider'
import { api } from '../api/api'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'
import { NotSigned, signedBy } from './sign'

/** The merchant's wallet signs a refund, and the signature is handed in. Beside its button stands what else can be done. */
export function SignRefund({ refund, onDone, children }: { refund: RefundBody; onDone(): void; children: ReactNode }) {
  const { t } = useWords()
  const wallets = useWallets()
  const work = useMutation({
    // The typed data expires soon, so it is loaded again.
    mutationFn: async ({ provider }: Wallet) => api.signRefund(refund.id, await signedBy(provider, await api.refund(refund.id))),
    onSettled: onDone,
  })
  return (
    <div>
      <p>{t.refunds.signHint(shortened(refund.from_address, 10))}</p>
      {wallets.length === 0 && <p className="faint">{t.refunds.noWallet}</p>}
      <div className="buttons">
        {wallets.map(wallet => (
          <Button key={wallet.name} loading={work.isPending} onClick={() => work.mutate(wallet)}>
            {t.refunds.sign(wallet.name)}
          </Button>
        ))}
        {children}
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
