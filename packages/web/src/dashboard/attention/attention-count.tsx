import { useQuery } from '@tanstack/react-query'
import { api } from '../api/api'
import { useMay } from '../api/use-memberships'
import { useWords } from '../texts/words'

/** The most that one page of the list holds: this page is the count's and the open list's alike. */
export const FIRST_PAGE = { limit: '100' }
const SHOWN_MAX = 99

/** The number of cases that wait, beside the name of their page. It is counted when the window gets the focus and when an act is done. */
export function AttentionCount() {
  const { t } = useWords()
  const enabled = useMay('listAttention')
  const { data } = useQuery({ queryKey: ['attention', FIRST_PAGE], queryFn: () => api.attention(FIRST_PAGE), enabled })
  const count = data?.data.length ?? 0
  if (count === 0) return null
  return (
    <span className="count">
      {count > SHOWN_MAX ? `${SHOWN_MAX}+` : count} <span className="hidden">{t.attention.open}</span>
    </span>
  )
}
