import { Button, TextInput } from '@mantine/core'
import type { OrderStatus } from '@ponte/contracts'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { reaisFrom } from '../../reais'
import type { Query } from '../api/api'
import { ChoiceFilter, DateFilter, type Filters, startOfDay } from '../lists/filters'
import { NetworkFilter } from '../lists/network-filter'
import { useWords } from '../texts/words'

export const ORDER_FILTERS = ['status', 'exception', 'by', 'from', 'to', 'amount', 'document', 'link', 'network', 'q'] as const
type Name = (typeof ORDER_FILTERS)[number]
type Chosen = Record<Name, string | undefined>

/** An order's id in the search box, or a link with it, leads to the order; anything else is looked for as it was quoted. */
function searchFor(text: string | undefined): { orderId?: string; query: Query } {
  if (!text) return { query: {} }
  const [orderId] = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text.toLowerCase()) ?? []
  return orderId ? { orderId, query: {} } : { query: { text } }
}

/** The address's filters as the API takes them. Days are those of this browser's time zone, the last one included. */
export function orderQuery({ status, exception, by, from, to, amount, document, link, network, q }: Chosen): Query {
  const [gte, lt] = by === 'paid' ? ['paid_gte', 'paid_lt'] : ['created_gte', 'created_lt']
  return {
    ...{ status, exception, brl_amount: amount, has_fiscal_document: document, link_id: link, chain_id: network },
    ...{ [gte]: startOfDay(from), [lt]: startOfDay(to, 1), ...searchFor(q).query },
  }
}

export function OrderFilters({ filters, setFilters }: Filters<Name>) {
  const { t, language, brl } = useWords()
  const [, navigate] = useLocation()
  const [isAmountWrong, setAmountWrong] = useState(false)
  const look = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const [text, amount] = ['q', 'amount'].map(name => String(data.get(name) ?? '').trim())
    const { orderId } = searchFor(text)
    if (orderId) return navigate(`/orders/${orderId}`)
    const decimal = amount ? reaisFrom(amount, language) : null
    setAmountWrong(Boolean(amount) && decimal === null)
    if (!amount || decimal !== null) setFilters({ q: text ?? null, amount: decimal })
  }
  const chooseStatus = (status: OrderStatus | '') => setFilters({ status, ...(status === 'paid' || status === '' ? {} : { by: null }) })
  // Only what is paid has a day of payment.
  const chooseBy = (by: string) => setFilters({ by, ...(by === 'paid' && filters.status !== 'paid' ? { status: null } : {}) })
  return (
    <search>
      <form className="filters many" onSubmit={look} key={`${filters.q} ${filters.amount}`}>
        <TextInput
          name="q"
          type="search"
          label={t.orders.search}
          placeholder={t.orders.searchHint}
          maxLength={300}
          defaultValue={filters.q ?? ''}
        />
        <Button type="submit" variant="default">
          {t.orders.search}
        </Button>
        <ChoiceFilter label={t.status} value={filters.status} choices={t.orders.statuses} onChoose={chooseStatus} />
        <ChoiceFilter
          label={t.orders.exception}
          value={filters.exception}
          choices={t.orders.exceptions}
          onChoose={exception => setFilters({ exception })}
        />
        <TextInput
          name="amount"
          label={t.overview.inBrl}
          inputMode="decimal"
          leftSection="R$"
          autoComplete="off"
          className="amount-filter"
          defaultValue={filters.amount ? brl(filters.amount).replace(/^R\$\s/, '') : ''}
          error={isAmountWrong && t.faults.amount}
        />
        <ChoiceFilter
          label={t.invoicing.document}
          value={filters.document}
          choices={t.invoicing.having}
          onChoose={document => setFilters({ document })}
        />
        <ChoiceFilter label={t.lists.by} value={filters.by} choices={{ paid: t.lists.paid }} none={t.lists.created} onChoose={chooseBy} />
        <NetworkFilter value={filters.network} onChoose={network => setFilters({ network })} />
        <DateFilter label={t.lists.from} value={filters.from} onChoose={from => setFilters({ from })} />
        <DateFilter label={t.lists.to} value={filters.to} onChoose={to => setFilters({ to })} />
      </form>
    </search>
  )
}
