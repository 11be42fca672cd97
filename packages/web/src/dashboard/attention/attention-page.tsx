import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../api/api'
import { Empty } from '../elements/states'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { Download } from '../lists/download'
import { ChoiceFilter, useFilters } from '../lists/filters'
import { NetworkFilter } from '../lists/network-filter'
import { ListCard, useList } from '../lists/paging'
import { useWords } from '../texts/words'
import { FIRST_PAGE } from './attention-count'
import { AttentionEntry } from './attention-entry'
import { AttentionList } from './attention-list'
import { isFoundBy } from './item'
import { useOpenCase } from './open-case'
import './attention.css'

// A page is as long as five of other lists.
const REFRESH_MS = 20_000

/** All money that does not simply settle, newest first, to work through: what is still to be handled, or what was. A case opens beside the list, on a phone in its place. */
export function AttentionPage() {
  const { t } = useWords()
  usePageTitle(t.attention.title)
  const { page, filters, setFilters, clear } = useFilters(['handled', 'reason', 'network', 'item'])
  const [text, setText] = useState('')
  const query = { handled: filters.handled === 'true' ? 'true' : undefined, reason: filters.reason, chain_id: filters.network }
  const list = useList('attention', api.attention, { ...FIRST_PAGE, ...page, ...query }, REFRESH_MS)
  const found = list.data?.data.filter(item => isFoundBy(item, text)) ?? []
  const shown = found.find(({ id }) => id === filters.item)
  const { hrefOf, open, work, entry } = useOpenCase(shown?.id)
  const isFiltered = Boolean(query.handled ?? query.reason ?? query.chain_id ?? text)
  const clearAll = () => {
    setText('')
    clear()
  }
  /** The one that stands there once this one has left the list. */
  const next = (id: string) => {
    const place = found.findIndex(item => item.id === id)
    open((found[place + 1] ?? found[place - 1])?.id)
  }
  return (
    <>
      <Heading title={t.attention.title}>
        <Download list="attention" query={query} />
      </Heading>
      <div className={shown ? 'work has-open' : 'work'} {...work}>
        <p className="lead">{t.attention.lead}</p>
        <div className="filters">
          <TextInput
            type="search"
            label={t.attention.search}
            value={text}
            onChange={event => setText(event.currentTarget.value)}
            maxLength={100}
          />
          <ChoiceFilter
            label={t.attention.kind}
            value={filters.reason}
            choices={t.attention.reasons}
            onChoose={reason => setFilters({ reason, item: null })}
          />
          <ChoiceFilter
            label={t.attention.show}
            value={query.handled}
            choices={{ true: t.attention.handled }}
            none={t.attention.open}
            onChoose={handled => setFilters({ handled, item: null })}
          />
          <NetworkFilter value={filters.network} onChoose={network => setFilters({ network, item: null })} />
        </div>
        <div className="work-list">
          {filters.item && list.data && !shown && <p role="status">{t.attention.gone}</p>}
          <ListCard
            list={list}
            onClear={isFiltered ? clearAll : null}
            empty={<Empty title={t.attention.empty} text={t.attention.emptyText} />}
          >
            {() =>
              found.length > 0 ? (
                <AttentionList items={found} openId={shown?.id} hrefOf={hrefOf} />
              ) : (
                <Empty title={t.nothing} text={t.nothingText}>
                  <Button variant="default" onClick={clearAll}>
                    {t.clear}
                  </Button>
                </Empty>
              )
            }
          </ListCard>
          <p className="faint keys">{t.attention.keys}</p>
        </div>
        {shown && <AttentionEntry key={shown.id} ref={entry} item={shown} onDone={() => next(shown.id)} onClose={() => open(undefined)} />}
      </div>
    </>
  )
}
