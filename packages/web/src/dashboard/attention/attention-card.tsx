import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { api } from '../api/api'
import { Card } from '../elements/card'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'
import { CaseLink, useActs } from './attention-list'
import './attention.css'

const SHOWN = 3

/** The newest of what needs attention, on a page about something else; nothing when nothing does. */
export function AttentionCard({ refreshMs }: { refreshMs: number }) {
  const { t } = useWords()
  const may = useActs()
  const query = { limit: String(SHOWN) }
  const found = useQuery({ queryKey: ['attention', query], queryFn: () => api.attention(query), refetchInterval: refreshMs })
  if (found.error) return <Failure error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data || found.data.data.length === 0) return null
  return (
    <Card title={t.attention.title}>
      <ul className="cases">
        {found.data.data.map(item => (
          <li key={item.id}>
            <CaseLink item={item} may={may} href={`/attention?item=${item.id}`} />
          </li>
        ))}
      </ul>
      <Link href="/attention" className="action">
        {t.attention.all}
      </Link>
    </Card>
  )
}
