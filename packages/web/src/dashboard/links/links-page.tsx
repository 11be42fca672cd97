import { Button } from '@mantine/core'
import type { LinkBody } from '@ponte/contracts'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from 'wouter'
import { dueDay } from '../../due-day'
import { api } from '../api/api'
import { Allowed } from '../api/use-memberships'
import { Badge, type Tone } from '../elements/badge'
import { CopyValue } from '../elements/copy'
import { Empty } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { useNewInvoice } from '../forms/new-invoice'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { useFilters } from '../lists/filters'
import { ListCard, useList } from '../lists/paging'
import { useWords } from '../texts/words'
import { useAmountOf } from './amount'
import { NewLink } from './new-link'
import { ShareLink } from './share-link'

const tones: Record<LinkBody['status'], Tone> = { open: 'wait', overdue: 'warn', undecided: 'bad', paid: 'good', ended: 'calm' }

export function LinksPage() {
  const { t } = useWords()
  usePageTitle(t.links.title)
  const form = useNewInvoice()
  const { page } = useFilters([])
  const list = useList('links', api.links, page)
  const fresh = (
    <Allowed to="createLink">
      <Button onClick={form.open}>{t.links.fresh}</Button>
    </Allowed>
  )
  return (
    <>
      <Heading title={t.links.title}>{fresh}</Heading>
      <NewLink {...form} />
      <ListCard
        list={list}
        onClear={null}
        empty={
          <Empty title={t.links.empty} text={t.links.emptyText}>
            {fresh}
          </Empty>
        }
      >
        {links => <LinkTable links={links} />}
      </ListCard>
    </>
  )
}

function LinkTable({ links }: { links: readonly LinkBody[] }) {
  const { t, language } = useWords()
  const queries = useQueryClient()
  const amountOf = useAmountOf()
  return (
    <table className="list">
      <thead>
        <tr>
          <th>{t.orders.reference}</th>
          <th>{t.status}</th>
          <th className="number">{t.links.amount}</th>
          <th>{t.links.link}</th>
          <th>
            <span className="hidden">{t.links.end}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {links.map(link => (
          <tr key={link.id}>
            <td>
              {link.order_id ? (
                <Link href={`/orders?link=${link.id}`} className="row-link" title={t.links.orders}>
                  {link.external_ref ?? link.description}
                </Link>
              ) : (
                (link.external_ref ?? link.description)
              )}
              <span className="faint">{link.external_ref ? link.description : t.links.kinds[link.kind]}</span>
            </td>
            <td>
              <Badge tone={tones[link.status]}>{t.links.statuses[link.status]}</Badge>
              {link.due_at && <span className="faint">{t.links.dueOn(dueDay(link.due_at, language))}</span>}
            </td>
            <td className="number">
              {amountOf(link)}
              <span className="faint">
                {t.links.payments}: {link.orders_paid}
                {link.max_payments === null ? '' : ` / ${link.max_payments}`}
              </span>
            </td>
            <td data-label={t.links.link}>
              <CopyValue value={link.url} label={t.links.url} />
              {(link.status === 'open' || link.status === 'overdue') && <ShareLink link={link} />}
            </td>
            <td>
              {link.status !== 'ended' && link.status !== 'paid' && (
                <Allowed to="endLink">
                  <Confirmed
                    action={t.links.end}
                    question={t.links.endSure}
                    work={() => api.endLink(link.id)}
                    onDone={() => void queries.invalidateQueries({ queryKey: ['links'] })}
                  />
                </Allowed>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
