import type { ReactNode } from 'react'

export type Tone = 'good' | 'wait' | 'warn' | 'bad'

const signs: Record<Tone, string> = {
  good: 'M5.500 10.500l3 3 6-7',
  wait: 'M10 5.500V10l3 2',
  warn: 'M10 5.500v5.500M10 14.200v.1',
  bad: 'M6.500 6.500l7 7M13.500 6.500l-7 7',
}

/** What happened, in one look and two sentences. */
export function Notice({ tone, title, children }: { tone: Tone; title: string; children?: ReactNode }) {
  return (
    <div className={`notice ${tone}`}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="9" />
        <path d={signs[tone]} />
      </svg>
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </div>
  )
}
