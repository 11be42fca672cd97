import type { SessionBody } from '@ponte/contracts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api'
import { accessToken, identity } from '../api/session'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { Failure, Loading } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { useWords } from '../texts/words'
import { programOf } from './program'

/** Where this login is in use. All others end at the identity provider too; a single one does when it is renewed. */
export function SessionsCard() {
  const { t, moment } = useWords()
  const queries = useQueryClient()
  const [isEnded, setEnded] = useState(false)
  const { data, error, refetch } = useQuery({ queryKey: ['sessions'], queryFn: () => api.sessions().then(({ data }) => data) })
  const ended = () => {
    setEnded(true)
    void queries.invalidateQueries({ queryKey: ['sessions'] })
  }
  const endOthers = async () => {
    await api.endOtherSessions()
    await (await identity()).endOthers(await accessToken())
  }
  const nameOf = ({ user_agent, network }: SessionBody) => `${programOf(user_agent) ?? t.signIn.own.unknownAgent}, ${network}`
  return (
    <Card title={t.signIn.own.sessionsTitle} className="team">
      <p>{t.signIn.own.sessionsLead}</p>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      <table className="list">
        <tbody>
          {data?.map(session => (
            <tr key={session.id}>
              <td>
                <strong>{nameOf(session)}</strong>
                <span className="faint">
                  {t.signIn.own.lastSeen(moment(session.last_seen_at))}, {t.signIn.own.since(moment(session.started_at))}
                </span>
              </td>
              <td>
                {session.is_current ? (
                  <Badge tone="good">{t.signIn.own.here}</Badge>
                ) : (
                  <div className="buttons">
                    <Confirmed
                      action={t.signIn.own.end}
                      question={t.signIn.own.endSure}
                      work={() => api.endSession(session.id)}
                      onDone={ended}
                    />
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {data?.length === 1 && <p className="faint">{t.signIn.own.none}</p>}
      <div className="buttons">
        <Confirmed action={t.signIn.own.endOthers} question={t.signIn.own.endOthersSure} work={endOthers} onDone={ended} />
      </div>
      <div role="status">{isEnded && <p className="done">{t.signIn.own.ended}</p>}</div>
    </Card>
  )
}
