import { Button } from '@mantine/core'
import type { AttentionItemBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import type { Ref } from 'react'
import { Link } from 'wouter'
import { shortened } from '../../amounts'
import { useNetworkName } from '../api/use-networks'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Facts } from '../elements/facts'
import { titleOf } from '../orders/order-title'
import { TransactionLine } from '../orders/transaction-line'
import { OrderRefunds } from '../refunds/order-refunds'
import type { Texts } from '../texts/pt'
import { useWords } from '../texts/words'
import { ReasonBadges } from './attention-list'
import { AttentionMark } from './attention-mark'
import { type Sent, sentOf } from './item'
import { TokenFacts } from './recover-token'
import { recoverySentence } from './recovery-sentence'

interface AttentionEntryProps {
  item: AttentionItemBody
  ref: Ref<HTMLElement>
  /** It has left the list. */
  onDone(): void
  onClose(): void
}

/** One case: what came, what becomes of it, who sent it, and what to do. */
export function AttentionEntry({ item, ref, onDone, onClose }: AttentionEntryProps) {
  const { t, usdc, moment } = useWords()
  const { order, gross, platform_fee: fee, left_over: leftOver, foreign_token: foreign } = item
  const rows: [string, string][] = [
    [t.payments.gross, usdc(gross)],
    [t.attention.taken, usdc(item.taken)],
    [t.attention.leftOver, usdc(leftOver)],
    [t.payments.fee, fee === null ? t.attention.unknownFee : `− ${usdc(fee)}`],
  ]
  if (fee !== null) rows.push([t.payments.share, usdc(formatUsdc(parseUsdc(gross) - parseUsdc(fee)))])
  return (
    <div className="attention-entry">
      <Card ref={ref} title={order ? <Link href={`/orders/${order.id}`}>{titleOf(order)}</Link> : t.attention.noOrder}>
        <Button variant="subtle" size="compact-sm" className="attention-close" onClick={onClose}>
          {t.attention.back}
        </Button>
        <ReasonBadges item={item} />
        <p className="faint">
          {order?.external_ref && order.description ? `${order.description} · ` : ''}
          {moment(item.at)}
        </p>
        {sentencesOf(item, t).map(sentence => (
          <p key={sentence}>{sentence}</p>
        ))}
        {foreign ? <TokenFacts token={foreign} /> : <Facts rows={rows} />}
        {order && foreign && <TransactionLine chainId={foreign.chain_id ?? order.payment.chain_id} hash={foreign.tx_hash} />}
        <ul className="payments">
          {sentOf(item).map(sent => (
            <Sender key={`${sent.hash} ${sent.amount}`} {...sent} />
          ))}
        </ul>
        {!order && <p className="faint">{t.payments.returningUnmatched(usdc(leftOver))}</p>}
        <AttentionMark item={item} onDone={onDone} />
      </Card>
      {order && !foreign && <OrderRefunds order={order} />}
    </div>
  )
}

function sentencesOf({ reasons, order, payment, foreign_token: foreign }: AttentionItemBody, t: Texts): string[] {
  return reasons.map(reason => {
    if (reason === 'foreign_token') return foreign?.recovery ? recoverySentence(foreign.recovery, t) : t.attention.foreign
    if (reason === 'unmatched') return t.attention.mismatches[payment?.reason ?? 'unknown_memo']
    if (reason === 'underpaid') return order?.status === 'expired' ? t.attention.shortAtEnd : t.attention.short
    return reason === 'settlement_blocked' ? t.payments.blocked : t.payments.exceptions[reason]
  })
}

function Sender({ payer, amount, hash, chainId }: Sent) {
  const { t, usdc } = useWords()
  const network = useNetworkName()(chainId)
  return (
    <li>
      <strong>{usdc(amount)}</strong>
      {network && <p className="faint">{network}</p>}
      <p className="payment-line">
        <span className="faint">{t.payments.from}</span>
        {payer === null ? t.payments.unknownPayer : <CopyValue value={payer} label={t.payments.from} shown={shortened(payer, 10)} />}
      </p>
      <TransactionLine chainId={chainId} hash={hash} />
    </li>
  )
}
