import type { RequestFailed } from '../../problem'
import { NoticeOf, type NoticeText } from './notice'

interface AbsentProps {
  failure: RequestFailed | null
  loading: string
  states: Record<'missing' | 'unreachable', NoticeText>
}

/** In place of a page whose facts are not there: not yet, never, or not now. */
export function Absent({ failure, loading, states }: AbsentProps) {
  if (!failure)
    return (
      <p className="loading" role="status">
        <span className="spinner" aria-hidden="true" /> {loading}
      </p>
    )
  const isMissing = failure.status === 404 || failure.status === 400
  return (
    <div role="alert">
      <NoticeOf tone={isMissing ? 'bad' : 'warn'} text={isMissing ? states.missing : states.unreachable} />
    </div>
  )
}
