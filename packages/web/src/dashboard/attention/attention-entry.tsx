import type { AttentionItemBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { Link } from 'wouter'
import { shortened } from '../../amounts'
import { transactionUrl } from '../../networks'
import { Badge } from '../elements/badge'
import { CopyValue } from '../elements/copy'
import { Facts } from '../elements/facts'
import { titleOf } from '../orders/order-title'
import type { Texts } from '../texts/pt'
import { useWords } from '../texts/words'
import { AttentionMark } from './attention-mark'

interface Of {
  item: AttentionItemBody
}

/** The item's subject, and the reason why it is here. */
export function ReasonBadges({ item: { order, reasons } }: Of) {
  const { t } = useWords()
  return (
    <p className="badges">
      {order ? (
        <Link href={`/orders/${order.id}`} className="row-link">
          {titleOf(order)}
        </Link>
      ) : (
        <strong>{t.attention.noOrder}</strong>
      )}
      {reasons.map(reason => (
        <Badge key={reason} tone={reason === 'settlement_blocked' || reason === 'reorged' ? 'bad' : 'warn'}>
          {t.attention.reasons[reason]}
        </Badge>
      ))}
    </p>
  )
}

const isZero = (decimal: string) => /^[0.]+$/.test(decimal)

/** One case: what came, what becomes of it, who sent it, and what to do. */
export function AttentionEntry({ item }: Of) {
  const { t, usdc, moment } = useWords()
  const rows: [string, string][] = [
    [t.payments.gross, usdc(item.gross)],
    [t.attention.taken, usdc(item.taken)],
    [t.attention.leftOver, usdc(item.left_over)],
    [t.payments.fee, item.platform_fee === null ? t.attention.unknownFee : `− ${usdc(item.platform_fee)}`],
  ]
  if (item.platform_fee !== null) {
    rows.push([t.payments.share, usdc(formatUsdc(parseUsdc(item.gross) - parseUsdc(item.platform_fee)))])
  }
  return (
    <li>
      <div className="attention-head">
        <ReasonBadges item={item} />
        <span className="faint">{moment(item.at)}</span>
      </div>
      {sentencesOf(item, t).map(sentence => (
        <p key={sentence}>{sentence}</p>
      ))}
      <Facts rows={rows} />
      <Senders item={item} />
      {!isZero(item.left_over) && !item.reasons.includes('reorged') && (
        <p className="faint">{(item.order ? t.payments.returning : t.payments.returningUnmatched)(usdc(item.left_over))}</p>
      )}
      <AttentionMark item={item} />
    </li>
  )
}

function sentencesOf({ reasons, order, payment }: AttentionItemBody, t: Texts): string[] {
  return reasons.map(reason => {
    if (reason === 'unmatched') return t.attention.mismatches[payment?.reason ?? 'unknown_memo']
    if (reason === 'underpaid') return order?.status === 'expired' ? t.attention.shortAtEnd : t.attention.short
    return reason === 'settlement_blocked' ? t.payments.blocked : t.payments.exceptions[reason]
  })
}

interface Sent {
  payer: string | null
  amount: string
  hash: string
  chainId: number
}

/** Payments that the network took, each with its sender. */
function Senders({ item: { order, payment } }: Of) {
  const { t, usdc } = useWords()
  const sent: Sent[] = payment
    ? [{ payer: payment.payer_address, amount: payment.amount, hash: payment.tx_hash, chainId: payment.chain_id }]
    : (order?.payments ?? [])
        .filter(({ status }) => status === 'confirmed')
        .map(({ payer_address, amount, tx_hash }) => ({
          ...{ payer: payer_address, amount, hash: tx_hash, chainId: order?.payment.chain_id ?? 0 },
        }))
  return (
    <ul className="senders">
      {sent.map(({ payer, amount, hash, chainId }) => {
        const url = transactionUrl(chainId, hash)
        return (
          <li key={`${hash} ${amount}`} className="payment-line">
            <span>
              {usdc(amount)} <span className="faint">{t.payments.from}</span>
            </span>
            {payer === null ? t.payments.unknownPayer : <CopyValue value={payer} label={t.payments.from} shown={shortened(payer, 10)} />}
            {url && (
              <a href={url} target="_blank" rel="noreferrer">
                {t.orders.transaction}
              </a>
            )}
          </li>
        )
      })}
    </ul>
  )
}
