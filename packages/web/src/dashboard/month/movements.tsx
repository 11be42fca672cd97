import { Button, Checkbox } from '@mantine/core'
import type { EntryBody } from '@ponte/contracts'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { BOOKS_ZONE } from '../../due-day'
import { api } from '../api/api'
import { useNetworkName } from '../api/use-networks'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { Failure, Loading } from '../elements/states'
import { useWords } from '../texts/words'
import { type Chosen, originsIn, sumOf } from './chosen'
import { instantsOf, monthAt } from './months'

const PAGE = '25'

interface MovementsProps {
  month: string
  /** Of one network alone. */
  network: string | undefined
  chosen: Chosen
  onChoose(entries: readonly EntryBody[], isChosen: boolean): void
  /** Goes to where a dossier of the chosen ones is made. */
  onDossier(): void
}

/** Every movement of the month, oldest first; those that reached the payout address can be chosen for a dossier. */
export function Movements({ month, network, chosen, onChoose, onDossier }: MovementsProps) {
  const { t, usdc } = useWords()
  const found = useInfiniteQuery({
    queryKey: ['entries', month, network],
    queryFn: ({ pageParam }) => api.entries({ ...instantsOf(month), chain_id: network, limit: PAGE, after: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => (page.has_more ? page.next_cursor : undefined),
  })
  if (found.error) return <Failure error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <Loading />
  const entries = found.data.pages.flatMap(({ data }) => data)
  const origins = originsIn(entries)
  const isChosen = ({ sequence }: EntryBody) => chosen.has(sequence)
  return (
    <Card title={t.month.movements}>
      {origins.length > 0 && (
        <Checkbox
          label={t.dossier.chooseAll}
          checked={origins.every(isChosen)}
          indeterminate={origins.some(isChosen) && !origins.every(isChosen)}
          onChange={event => onChoose(origins, event.currentTarget.checked)}
          mb="md"
        />
      )}
      {entries.length === 0 ? (
        <p>{t.month.none}</p>
      ) : (
        <table className="list">
          <thead>
            <tr>
              <th>{t.month.what}</th>
              <th>{t.month.when}</th>
              <th className="number">USDC</th>
              <th>{t.month.where}</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(entry => (
              <Movement key={entry.sequence} entry={entry}>
                {origins.includes(entry) && (
                  <Checkbox
                    className="choice"
                    aria-label={t.dossier.choose(entry.sequence)}
                    checked={isChosen(entry)}
                    onChange={event => onChoose([entry], event.currentTarget.checked)}
                  />
                )}
              </Movement>
            ))}
          </tbody>
        </table>
      )}
      {found.hasNextPage && (
        <Button variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t.month.more}
        </Button>
      )}
      {chosen.size > 0 && (
        <div className="chosen">
          <span role="status">{t.dossier.chosen(chosen.size, usdc(sumOf(chosen)))}</span>
          <Button size="xs" onClick={onDossier}>
            {t.dossier.toDossier}
          </Button>
        </div>
      )}
    </Card>
  )
}

function Movement({ entry, children }: { entry: EntryBody; children: ReactNode }) {
  const { t, usdc, brl, moment } = useWords()
  const network = useNetworkName()(entry.chain_id)
  const isLater = monthAt(new Date(entry.at)) !== monthAt(new Date(entry.block_time))
  return (
    <tr>
      <td>
        {children}
        {entry.order_id ? (
          <Link href={`/orders/${entry.order_id}`} className="row-link">
            {t.month.kinds[entry.kind]}
          </Link>
        ) : (
          t.month.kinds[entry.kind]
        )}{' '}
        {entry.reverses !== null && <Badge tone="warn">{t.month.reverses(entry.reverses)}</Badge>}
        <span className="faint">{t.month.numbered(entry.sequence)}</span>
      </td>
      <td>
        {moment(entry.at, BOOKS_ZONE)}
        {isLater && <span className="faint">{t.month.speaksOf(moment(entry.block_time, BOOKS_ZONE))}</span>}
      </td>
      <td className="number">
        {usdc(entry.amount).replace(/\sUSDC$/, '')}
        {entry.brl_amount && <span className="faint">{brl(entry.brl_amount)}</span>}
      </td>
      <td>
        <span className="mono short" title={entry.tx_hash}>
          {`${entry.tx_hash.slice(0, 10)}…${entry.tx_hash.slice(-6)}`}
        </span>
        {network && <span className="faint">{network}</span>}
      </td>
    </tr>
  )
}
