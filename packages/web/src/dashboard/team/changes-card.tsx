import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { Card, Failure } from '../elements'
import { useWords } from '../texts'
import { isForbidden } from './use-team'

const PAGE = 20

/** The audit log, newest first. */
export function ChangesCard({ nameOf }: { nameOf(userId: string): string }) {
  const { t, moment } = useWords()
  const [count, setCount] = useState(PAGE)
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', count],
    queryFn: () => api.audit({ limit: String(count) }),
    placeholderData: previous => previous,
  })
  if (isForbidden(error)) return null
  return (
    <Card title={t.team.changes} className="team">
      <p>{t.team.changesText}</p>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data?.data.length === 0 && <p className="faint">{t.team.noChanges}</p>}
      {data && data.data.length > 0 && (
        <table className="list changes">
          <thead>
            <tr>
              <th>{t.team.what}</th>
              <th>{t.team.who}</th>
              <th>{t.created}</th>
            </tr>
          </thead>
          <tbody>
            {data.data.map(entry => (
              <tr key={entry.id}>
                <td>
                  <strong>{t.team.actions[entry.action] ?? entry.action}</strong>
                  <span className="faint mono">{entry.changed.join(', ')}</span>
                </td>
                <td>
                  {nameOf(entry.user_id)}
                  <span className="faint mono">{entry.network}</span>
                </td>
                <td>{moment(entry.created_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {data?.has_more && count < 100 && (
        <div className="buttons">
          <Button variant="default" onClick={() => setCount(100)}>
            {t.older}
          </Button>
        </div>
      )}
    </Card>
  )
}
