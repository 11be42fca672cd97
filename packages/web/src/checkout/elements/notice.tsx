import type { ReactNode } from 'react'
import type { StateName } from '../texts/states-pt'
import { useWords } from '../texts/words'
import './notice.css'

export type Tone = 'good' | 'wait' | 'warn' | 'bad'

const signs: Record<Tone, string> = {
  good: 'M5.5 10.5l3 3 6-7',
  wait: 'M10 5.5V10l3 2',
  warn: 'M10 5.5v5.5M10 14.2v.1',
  bad: 'M6.5 6.5l7 7M13.5 6.5l-7 7',
}

function Sign({ tone }: { tone: Tone }) {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="10" cy="10" r="9" />
      <path d={signs[tone]} />
    </svg>
  )
}

interface NoticeProps {
  tone: Tone
  state: StateName
  /** More of what happened, before what to do. */
  reason?: string | undefined
  children?: ReactNode
}

/** A state in one look: a sign, what happened, and what to do. */
export function Notice({ tone, state, reason, children }: NoticeProps) {
  const { t } = useWords()
  const { title, happened, todo } = t.states[state]
  return (
    <NoticeOf tone={tone} text={{ title, happened: reason === undefined ? happened : `${happened} ${reason}`, todo }}>
      {children}
    </NoticeOf>
  )
}

export interface NoticeText {
  title: string
  happened: string
  todo?: string
}

/** The same with a text of its own. */
export function NoticeOf({ tone, text: { title, happened, todo }, children }: { tone: Tone; text: NoticeText; children?: ReactNode }) {
  return (
    <div className={`notice ${tone}`}>
      <Sign tone={tone} />
      <div>
        <h2>{title}</h2>
        <p>{happened}</p>
        {todo && <p className="todo">{todo}</p>}
        {children}
      </div>
    </div>
  )
}

/** A state beside what is shown anyway: its two sentences in a box. */
export function Aside({ state }: { state: StateName }) {
  const { t } = useWords()
  const { title, happened, todo } = t.states[state]
  return (
    <div className="aside warn">
      <p>
        <strong>{title}</strong>
      </p>
      <p>{happened}</p>
      <p>{todo}</p>
    </div>
  )
}
