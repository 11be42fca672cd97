import type { AttentionItemBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api } from '../api/api'
import { Card } from '../elements/card'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'
import { ReasonBadges } from './attention-entry'
import './attention.css'

const SHOWN = 3

/** The newest of what needs attention, on a page about something else; nothing when nothing does. */
export function AttentionCard({ refreshMs }: { refreshMs: number }) {
  const { t } = useWords()
  const query = { limit: String(SHOWN) }
  const found = useQuery({ queryKey: ['attention', query], queryFn: () => api.attention(query), refetchInterval: refreshMs })
  if (found.error) return <Failure error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data || found.data.data.length === 0) return null
  return (
    <Card title={t.attention.title}>
      <ul className="attention brief">
        {found.data.data.map(item => (
          <Brief key={item.id} item={item} />
        ))}
      </ul>
      <Link href="/attention" className="action">
        {t.attention.all}
      </Link>
    </Card>
  )
}

function Brief({ item }: { item: AttentionItemBody }) {
  const { usdcRounded } = useWords()
  return (
    <li>
      <ReasonBadges item={item} />
      <strong>{usdcRounded(item.gross)}</strong>
    </li>
  )
}
