import type { RecoveryBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { shortened } from '../../amounts'
import { api } from '../api/api'
import { recoverySentence } from '../attention/recovery-sentence'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { useWords } from '../texts/words'
import { TransactionLine } from './transaction-line'

const REFRESH_MS = 3_000

/** Tokens that are not USDC and were sent on from the order's address; nothing where there were none. */
export function OrderRecoveries({ orderId, chainId }: { orderId: string; chainId: number }) {
  const { t } = useWords()
  const found = useQuery({
    queryKey: ['recoveries', orderId],
    queryFn: () => api.recoveries(orderId),
    refetchInterval: ({ state }) => (state.data?.data.some(({ status }) => status === 'pending') ? REFRESH_MS : false),
  })
  if (!found.data || found.data.data.length === 0) return null
  return (
    <Card title={t.orders.recoveries}>
      <ul className="payments">
        {found.data.data.map(recovery => (
          <Recovery key={recovery.id} recovery={recovery} chainId={chainId} />
        ))}
      </ul>
    </Card>
  )
}

function Recovery({ recovery, chainId }: { recovery: RecoveryBody; chainId: number }) {
  const { t, coin, exactMoment } = useWords()
  const { token_address: token, amount, destination, tx_hash: hash, created_at: at } = recovery
  return (
    <li>
      <p className="payment-line">
        <span className="faint">{t.attention.token}</span>
        {token === null ? t.attention.coin : <CopyValue value={token} label={t.attention.token} shown={shortened(token, 10)} />}
      </p>
      {amount !== null && <p>{token === null ? coin(amount) : t.attention.units(amount)}</p>}
      <p className="faint">
        {exactMoment(at)} · {recoverySentence(recovery, t)}
      </p>
      <p className="payment-line">
        <span className="faint">{t.attention.goesTo}</span>
        <CopyValue value={destination} label={t.attention.goesTo} shown={shortened(destination, 10)} />
      </p>
      {hash && <TransactionLine chainId={recovery.chain_id ?? chainId} hash={hash} />}
    </li>
  )
}
