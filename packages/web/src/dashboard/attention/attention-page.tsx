import { api } from '../api'
import { Empty } from '../elements'
import { Heading, usePageTitle } from '../frame'
import { ListCard, useFilters, useList } from '../lists'
import { useWords } from '../texts'
import { AttentionEntry } from './attention-entry'
import './attention.css'

/** All money that does not simply settle, newest first. */
export function AttentionPage() {
  const { t } = useWords()
  usePageTitle(t.attention.title)
  const { page } = useFilters([])
  const list = useList('attention', api.attention, page)
  return (
    <>
      <Heading title={t.attention.title} />
      <p className="lead">{t.attention.lead}</p>
      <ListCard list={list} onClear={null} empty={<Empty title={t.attention.empty} text={t.attention.emptyText} />}>
        {items => (
          <ul className="attention">
            {items.map(item => (
              <AttentionEntry key={item.id} item={item} />
            ))}
          </ul>
        )}
      </ListCard>
    </>
  )
}
