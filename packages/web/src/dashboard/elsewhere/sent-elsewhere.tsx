import { Button } from '@mantine/core'
import type { OrderBody } from '@ponte/contracts'
import { formatUsdc } from '@ponte/contracts/money'
import { useMutation } from '@tanstack/react-query'
import { networkName } from '../../networks'
import { useWallets, type Wallet } from '../../wallet/provider'
import { TransactionLine } from '../orders/transaction-line'
import { useWords } from '../texts/words'
import './sent-elsewhere.css'
import { lookThere, NotThere, type StrayDeposit, sendOn } from './stray-deposit'

interface SentElsewhereProps {
  order: OrderBody
  hash: string
}

const nameOf = (chainId: number | null) => (chainId === null ? '' : networkName(chainId, String(chainId)))

/** Looks with the merchant's wallet for money that no listener sees, and has what lies there sent on. */
export function SentElsewhere({ order, hash }: SentElsewhereProps) {
  const { t } = useWords()
  const wallets = useWallets()
  const work = useMutation({
    mutationFn: async (wallet: Wallet) => ({ wallet, deposit: await lookThere(wallet.provider, order, hash) }),
  })
  return (
    <div className="sent-elsewhere">
      <p>{t.elsewhere.hint}</p>
      {wallets.length === 0 && <p className="faint">{t.elsewhere.noWallet}</p>}
      <div className="buttons">
        {wallets.map(wallet => (
          <Button key={wallet.name} variant="default" loading={work.isPending} onClick={() => work.mutate(wallet)}>
            {t.elsewhere.look(wallet.name)}
          </Button>
        ))}
      </div>
      <div role="status">
        {work.isPending && <p>{t.elsewhere.looking}</p>}
        {work.error && <Why error={work.error} />}
        {work.data && <SendOn key={work.submittedAt} order={order} {...work.data} />}
      </div>
    </div>
  )
}

function Why({ error }: { error: Error }) {
  const { t } = useWords()
  const { reason, chainId } = error instanceof NotThere ? error : new NotThere('other')
  return <p>{t.elsewhere.reasons[reason](nameOf(chainId))}</p>
}

function SendOn({ order, wallet, deposit }: { order: OrderBody; wallet: Wallet; deposit: StrayDeposit }) {
  const { t, usdc } = useWords()
  const { chainId, units, isContract, merchantAddress } = deposit
  const work = useMutation({ mutationFn: () => sendOn(wallet.provider, order, deposit) })
  return (
    <>
      <p>{t.elsewhere.found(usdc(formatUsdc(units)), nameOf(chainId))}</p>
      <p>{t.elsewhere.goesTo}</p>
      <p className="mono whole">{merchantAddress}</p>
      {!isContract && <p>{t.elsewhere.sure(nameOf(chainId))}</p>}
      {work.data === undefined && (
        <Button loading={work.isPending} onClick={() => work.mutate()}>
          {t.elsewhere.send}
        </Button>
      )}
      {work.error && <Why error={work.error} />}
      {work.data !== undefined && (
        <>
          <p>{t.elsewhere.sent}</p>
          <TransactionLine chainId={chainId} hash={work.data} />
        </>
      )}
    </>
  )
}
