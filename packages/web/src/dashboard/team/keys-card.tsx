import type { NamedKeyBody } from '@ponte/contracts'
import { api } from '../api/api'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { Failure } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { DialogButton } from '../forms/dialog-button'
import { useWords } from '../texts/words'
import { KeyForm } from './key-form'
import { useKeys, useTeamChanged } from './use-team'

export function KeysCard({ nameOf }: { nameOf(userId: string): string }) {
  const { t } = useWords()
  const { data, error, refetch } = useKeys()
  if (!data && !error) return null
  return (
    <Card title={t.team.keys} className="team">
      <p>{t.team.keysText}</p>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <p className="faint">{t.team.noKeys}</p>}
      {data && data.length > 0 && (
        <table className="list">
          <tbody>
            {data.map(key => (
              <KeyRow key={key.id} named={key} maker={nameOf(key.created_by)} />
            ))}
          </tbody>
        </table>
      )}
      <div className="buttons">
        <DialogButton variant="default" title={t.team.newKey}>
          {close => <KeyForm onDone={close} />}
        </DialogButton>
      </div>
    </Card>
  )
}

function KeyRow({ named: { id, name, prefix, scopes, last_used_at: lastUsedAt }, maker }: { named: NamedKeyBody; maker: string }) {
  const { t, moment } = useWords()
  const changed = useTeamChanged()
  return (
    <tr>
      <td>
        <strong>{name}</strong>
        <span className="faint mono">{prefix}…</span>
        <span className="faint">{t.team.madeBy(maker)}</span>
        <span className="faint">{scopes.map(scope => t.team.scopeNames[scope]).join(' · ')}</span>
      </td>
      <td>
        <Badge tone="calm">{lastUsedAt ? t.team.lastUsed(moment(lastUsedAt)) : t.team.neverUsed}</Badge>
      </td>
      <td>
        <Confirmed action={t.team.revoke} question={t.team.revokeKeySure(name)} work={() => api.revokeKey(id)} onDone={changed} />
      </td>
    </tr>
  )
}
