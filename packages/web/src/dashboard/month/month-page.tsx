import { Button } from '@mantine/core'
import type { SummaryBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { BOOKS_ZONE } from '../../due-day'
import { api } from '../api/api'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { Failure, Loading } from '../elements/states'
import { Heading } from '../frame/heading'
import { usePageTitle } from '../frame/page-title'
import { Download } from '../lists/download'
import { changed } from '../lists/filters'
import { NetworkFilter } from '../lists/network-filter'
import { VolumeChart } from '../overview/volume-chart'
import { useWords } from '../texts/words'
import { type Chosen, chooseAlso } from './chosen'
import { DutyCard } from './duty-card'
import { LedgerFiles } from './ledger-files'
import { daysOf, instantsOf, monthAfter, monthAt } from './months'
import { Movements } from './movements'
import { OriginDossier } from './origin-dossier'
import './month.css'

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/

/** One civil month of the ledger: what there was, what moved, what there is. */
export function MonthPage() {
  const { t, locale, language } = useWords()
  const [search, setSearch] = useSearchParams()
  const network = search.get('network') ?? undefined
  const asked = search.get('month') ?? ''
  const present = monthAt(new Date())
  const month = MONTH.test(asked) ? asked : present
  const name = new Date(`${month}-15T12:00:00Z`).toLocaleDateString(locale, { month: 'long', year: 'numeric' })
  usePageTitle(`${t.month.title}: ${name}`)
  // Kept while the months are turned: a withdrawal can be of several.
  const [chosen, setChosen] = useState<Chosen>(new Map())
  const dossier = useRef<HTMLElement>(null)
  const found = useQuery({
    queryKey: ['summary', month],
    queryFn: () => api.summary({ ...daysOf(month), timezone: BOOKS_ZONE, by: 'day' }),
  })
  const hrefOf = (other: string) => `/month?${changed(search, { month: other })}`
  return (
    <>
      <Heading title={t.month.title}>
        <Download list="entries" query={{ ...instantsOf(month), chain_id: network, form: language === 'pt' ? 'brazilian' : undefined }} />
      </Heading>
      <nav className="months" aria-label={t.month.choose}>
        <Button component={Link} href={hrefOf(monthAfter(month, -1))} variant="default" aria-label={t.month.before}>
          ‹
        </Button>
        <strong>{name}</strong>
        {month < present && (
          <Button component={Link} href={hrefOf(monthAfter(month, 1))} variant="default" aria-label={t.month.after}>
            ›
          </Button>
        )}
      </nav>
      {found.error && <Failure error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {found.data && (
        <>
          <Balance summary={found.data} isClosed={(found.data.closed_through ?? '') >= instantsOf(month).at_lt} />
          <DutyCard month={month} total={found.data.total} />
        </>
      )}
      <NetworkFilter maw={224} mb="md" value={network} onChoose={name => setSearch(before => changed(before, { network: name }))} />
      <LedgerFiles month={month} network={network} />
      <OriginDossier ref={dossier} network={network} chosen={chosen} onClear={() => setChosen(new Map())} />
      <Movements
        key={`${month} ${network}`}
        month={month}
        network={network}
        chosen={chosen}
        onChoose={(entries, isChosen) => setChosen(before => chooseAlso(before, entries, isChosen))}
        onDossier={() => dossier.current?.focus()}
      />
    </>
  )
}

function Balance({ summary, isClosed }: { summary: SummaryBody; isClosed: boolean }) {
  const { t, brl, usdc } = useWords()
  const { opening, total, closing } = summary
  const rows = [
    [t.overview.gross, opening.gross, total.gross, closing.gross],
    [t.overview.fee, opening.platform_fee, total.platform_fee, closing.platform_fee],
    [t.overview.settled, opening.settled, total.settled, closing.settled],
    [t.overview.unsettled, opening.waiting, total.waiting, closing.waiting],
    [t.month.unmatched, opening.unmatched, total.unmatched, closing.unmatched],
    ...(/^[0.]+$/.test(closing.returned) ? [] : [[t.month.returned, opening.returned, total.returned, closing.returned] as const]),
    ...(/^[0.]+$/.test(closing.given_away) ? [] : [[t.month.givenAway, opening.given_away, total.given_away, closing.given_away] as const]),
  ] as const
  return (
    <Card
      title={
        <>
          {t.overview.paid(total.payments)} · {brl(total.brl_amount)}{' '}
          <Badge tone={isClosed ? 'good' : 'calm'}>{isClosed ? t.month.closed : t.month.isOpen}</Badge>
        </>
      }
    >
      <VolumeChart summary={summary} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls on a phone is reached by keyboard too */}
      <section className="balance" aria-label={t.month.moved} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>USDC</th>
              <th>{t.month.opening}</th>
              <th>{t.month.moved}</th>
              <th>{t.month.closing}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([label, ...amounts]) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {amounts.map((amount, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: three columns that never change places
                  <td key={index}>{usdc(amount).replace(/\sUSDC$/, '')}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p className="faint">{t.month.basis}</p>
      {/* A server of the release before does not know it. */}
      {(summary.uncounted ?? []).map(({ address, from_block }) => (
        <p key={address}>{t.month.uncounted(address, from_block)}</p>
      ))}
    </Card>
  )
}
