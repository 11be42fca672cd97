import { Button, Loader } from '@mantine/core'
import type { ReactNode } from 'react'
import { RequestFailed } from '../../problem'
import { LoginFailed } from '../api/identity'
import { useWords } from '../texts/words'
import './states.css'

export function Loading() {
  const { t } = useWords()
  return (
    <p className="loading" role="status">
      <Loader size="xs" /> {t.loading}
    </p>
  )
}

/** The fault, advice, and the code that support asks for. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const { t } = useWords()
  const failed = error instanceof RequestFailed ? error : null
  return (
    <div className="failure" role="alert">
      <p className="failure-title">{t.failures.title}</p>
      <p>{error instanceof LoginFailed ? t.signIn.faults[error.fault] : ((failed && t.failures[failed.code]) ?? t.failures.other)}</p>
      {failed?.requestId && <p className="faint mono">{t.requestId(failed.requestId)}</p>}
      {onRetry && (
        <Button variant="default" size="xs" onClick={onRetry}>
          {t.retry}
        </Button>
      )}
    </div>
  )
}

export function Empty({ title, text, children }: { title: string; text?: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <svg viewBox="0 0 120 48" aria-hidden="true">
        <path d="M4 40h112M20 40V30a40 24 0 0 1 80 0v10M40 40V17M60 40V12M80 40V17" />
      </svg>
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {children}
    </div>
  )
}
