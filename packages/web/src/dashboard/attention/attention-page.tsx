import { api } from '../api/api'
import { Empty } from '../elements/states'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { Download } from '../lists/download'
import { ChoiceFilter, useFilters } from '../lists/filters'
import { ListCard, useList } from '../lists/paging'
import { useWords } from '../texts/words'
import { AttentionEntry } from './attention-entry'
import './attention.css'

/** All money that does not simply settle, newest first: what is still to be handled, or what was. */
export function AttentionPage() {
  const { t } = useWords()
  usePageTitle(t.attention.title)
  const { page, filters, setFilters, isFiltered, clear } = useFilters(['handled'])
  const handled = filters.handled === 'true' ? 'true' : undefined
  const list = useList('attention', api.attention, { ...page, handled })
  return (
    <>
      <Heading title={t.attention.title}>
        <Download list="attention" query={{ handled }} />
      </Heading>
      <p className="lead">{t.attention.lead}</p>
      <div className="filters">
        <ChoiceFilter
          label={t.attention.show}
          value={handled}
          choices={{ true: t.attention.handled }}
          none={t.attention.open}
          onChoose={value => setFilters({ handled: value || null })}
        />
      </div>
      <ListCard list={list} onClear={isFiltered ? clear : null} empty={<Empty title={t.attention.empty} text={t.attention.emptyText} />}>
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
