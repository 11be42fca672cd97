import { useQuery } from '@tanstack/react-query'
import { api } from '../api/api'
import { CaseLink, useActs } from '../attention/attention-list'
import { Card } from '../elements/card'
import { useWords } from '../texts/words'
import '../attention/attention.css'

/** Money without an order that the text of a search quotes: a customer's message does not say which of both it is about. */
export function QuotedMoney({ text }: { text: string }) {
  const { t } = useWords()
  const may = useActs()
  const { data } = useQuery({ queryKey: ['attention', 'quoted', text], queryFn: () => api.attention({ text }) })
  if (!data || data.data.length === 0) return null
  return (
    <Card title={t.attention.quoted}>
      <ul className="cases">
        {data.data.map(item => (
          <li key={item.id}>
            <CaseLink item={item} may={may} href={`/attention?${item.handled_at ? 'handled=true&' : ''}item=${item.id}`} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
