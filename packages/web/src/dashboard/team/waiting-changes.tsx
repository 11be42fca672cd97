import type { WaitingChangeBody } from '@ponte/contracts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../api/api'
import { useNetworkName } from '../api/use-networks'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Confirmed } from '../forms/confirmed'
import { useWords } from '../texts/words'
import './team.css'

const REFETCH_MS = 60_000

/** Waiting changes of owners and of the payout address, on every page: seen in time, they stop a thief. */
export function WaitingChanges() {
  const { t, exactMoment } = useWords()
  const queries = useQueryClient()
  const { data } = useQuery({
    queryKey: ['waiting-changes'],
    queryFn: () => api.waitingChanges().then(({ data }) => data),
    refetchInterval: REFETCH_MS,
  })
  const networkName = useNetworkName()
  if (!data || data.length === 0) return null
  const placeOf = ({ chain_id }: WaitingChangeBody) => {
    const network = networkName(chain_id ?? null)
    return network && <p>{t.payout.own.on(network)}</p>
  }
  const nameOf = ({ email }: WaitingChangeBody) => email ?? t.team.unknownEmail
  const whatOf = (change: WaitingChangeBody) => {
    if (change.type === 'payout_address') return t.team.waits.payout
    if (change.role === null) return t.team.waits.leaves(nameOf(change))
    return t.team.waits.becomes(nameOf(change), t.team.roles[change.role])
  }
  return (
    <Card title={t.team.waits.title}>
      <p>{t.team.waits.text}</p>
      {data.map(change => (
        <div key={change.id} className="secret" role="status">
          <p className="warning">
            <strong>{change.display_name}</strong>: {whatOf(change)} {t.team.waits.from(exactMoment(change.activates_at))}
          </p>
          {change.objected_at !== null && change.confirmed_by === null && <p>{t.team.waits.contested}</p>}
          {placeOf(change)}
          {change.payout_address && <CopyValue value={change.payout_address} label={t.payout.next} />}
          <div className="buttons">
            {change.may_confirm && (
              <Confirmed
                action={t.team.waits.confirm}
                question={t.team.waits.confirmSure}
                work={() => api.confirmWaitingChange(change.id)}
                onDone={() => void queries.invalidateQueries()}
              />
            )}
            {change.may_cancel ? (
              <Confirmed
                action={t.team.waits.cancel}
                question={t.team.waits.cancelSure}
                work={() => api.cancelWaitingChange(change.id)}
                onDone={() => void queries.invalidateQueries()}
              />
            ) : (
              <span className="faint">{t.team.waits.others}</span>
            )}
          </div>
        </div>
      ))}
    </Card>
  )
}
