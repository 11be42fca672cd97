import { Button } from '@mantine/core'
import type { AuditEntryBody } from '@ponte/contracts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { api } from '../../api/api'
import { useMay } from '../../api/use-memberships'
import { Badge } from '../../elements/badge'
import { Card } from '../../elements/card'
import { Failure } from '../../elements/states'
import { Download } from '../../lists/download'
import { useWords } from '../../texts/words'
import { useKeys } from '../use-team'
import { changesIn, pageOf } from './change-words'

const PAGE = 20

/** The audit log, newest first. */
export function ChangesCard({ nameOf }: { nameOf(userId: string): string }) {
  const { t } = useWords()
  const [count, setCount] = useState(PAGE)
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', count],
    queryFn: () => api.audit({ limit: String(count) }),
    placeholderData: previous => previous,
    enabled: useMay('listAudit'),
  })
  if (!data && !error) return null
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
              <th>{t.team.when}</th>
            </tr>
          </thead>
          <tbody>
            {data.data.map(entry => (
              <ChangeRow key={entry.id} entry={entry} nameOf={nameOf} />
            ))}
          </tbody>
        </table>
      )}
      <div className="buttons">
        {data?.has_more && count < 100 && (
          <Button variant="default" onClick={() => setCount(100)}>
            {t.older}
          </Button>
        )}
        <Download list="audit" />
      </div>
    </Card>
  )
}

function ChangeRow({ entry, nameOf }: { entry: AuditEntryBody; nameOf(userId: string): string }) {
  const { t, moment } = useWords()
  const keys = useKeys().data ?? []
  const actor = (id: string) => {
    if (id === 'api_key') return t.team.audit.keyWithoutName
    if (!id.startsWith('api_key:')) return nameOf(id)
    return keys.find(key => id === `api_key:${key.id}`)?.name ?? t.team.audit.revokedKey
  }
  const page = pageOf(entry)
  return (
    <tr>
      <td>
        <strong>{t.team.audit.actions[entry.action] ?? entry.action}</strong>
        <span className="faint">{changesIn(entry.changed, t.team).join(', ')}</span>
        {page && <Link href={page}>{t.team.audit.open}</Link>}
        {entry.outcome !== 'done' && (
          <Badge tone={entry.outcome === 'unknown' ? 'bad' : 'calm'}>{t.team.audit.outcomes[entry.outcome] ?? entry.outcome}</Badge>
        )}
      </td>
      <td>
        {actor(entry.user_id)}
        <span className="faint mono">{entry.network}</span>
      </td>
      <td>{moment(entry.created_at)}</td>
    </tr>
  )
}
