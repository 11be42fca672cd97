import type { AttentionItemBody } from '@ponte/contracts'
import { type ComponentProps, useState } from 'react'
import { Link } from 'wouter'
import { age, shortened } from '../../amounts'
import { useMay } from '../api/use-memberships'
import { Badge } from '../elements/badge'
import { titleOf } from '../orders/order-title'
import { useWords } from '../texts/words'
import { type Act, amountOf, nextActOf, sinceOf } from './item'

interface AttentionListProps {
  items: readonly AttentionItemBody[]
  openId: string | undefined
  hrefOf(id: string): string
}

/** One line a case. The tabulator key reaches one of them, further keys move along. */
export function AttentionList({ items, openId, hrefOf }: AttentionListProps) {
  const { t } = useWords()
  const [focused, setFocused] = useState(openId)
  const may = useActs()
  const reached = items.find(({ id }) => id === focused) ?? items[0]
  return (
    <ul className="cases" aria-label={t.attention.title}>
      {items.map(item => (
        <li key={item.id}>
          <CaseLink
            item={item}
            may={may}
            href={hrefOf(item.id)}
            data-id={item.id}
            tabIndex={item === reached ? 0 : -1}
            aria-current={item.id === openId}
            onFocus={() => setFocused(item.id)}
          />
        </li>
      ))}
    </ul>
  )
}

/** Acts about cases that the user may do. */
export const useActs = (): Record<Act, boolean> => ({
  accept: useMay('acceptOrder'),
  attach: useMay('attachAttention'),
  recover: useMay('createRecovery'),
  return: useMay('createRefund'),
  handle: useMay('handleAttention'),
})

interface CaseLinkProps extends ComponentProps<'a'> {
  item: AttentionItemBody
  may: Record<Act, boolean>
  href: string
}

/** Why it is here, what it is about, how much, since when, and what to do next. */
export function CaseLink({ item, may, ...link }: CaseLinkProps) {
  const { t, language, usdcRounded, exactMoment } = useWords()
  const act = nextActOf(item, may)
  const { order, payers, foreign_token: foreign } = item
  const { is, amount } = amountOf(item)
  const since = sinceOf(item)
  const payer = payers[0] && shortened(payers[0])
  return (
    <Link {...link} className="case">
      <ReasonBadges item={item} />
      <span className="case-title">
        <strong>{order ? titleOf(order) : t.attention.noOrder}</strong>{' '}
        <span className="faint">{order?.external_ref ? (order.description ?? payer) : payer}</span>
      </span>
      <span className="case-amount">
        {foreign ? (
          <span className="faint">{foreign.token_address === null ? t.attention.coin : shortened(foreign.token_address)}</span>
        ) : (
          <>
            <span className="faint">{t.attention.amounts[is]}</span> <strong>{usdcRounded(amount)}</strong>
          </>
        )}
      </span>
      <time className="faint" dateTime={since} title={exactMoment(since)}>
        {age(since, language)}
      </time>
      <span className={act ? 'case-act' : 'case-act faint'}>{act ? t.attention.acts[act] : t.attention.look}</span>
    </Link>
  )
}

export function ReasonBadges({ item: { reasons } }: { item: AttentionItemBody }) {
  const { t } = useWords()
  return (
    <span className="badges">
      {reasons.map(reason => (
        <Badge key={reason} tone={reason === 'settlement_blocked' || reason === 'reorged' ? 'bad' : 'warn'}>
          {t.attention.reasons[reason]}
        </Badge>
      ))}
    </span>
  )
}
