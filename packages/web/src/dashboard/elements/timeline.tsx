import type { ReactNode } from 'react'
import type { Tone } from './badge'
import './timeline.css'

export function Timeline({ children }: { children: ReactNode }) {
  return <ol className="timeline">{children}</ol>
}

export function TimelineEntry({ tone, title, children }: { tone: Tone; title: ReactNode; children?: ReactNode }) {
  return (
    <li className={tone}>
      <p className="timeline-title">{title}</p>
      {children}
    </li>
  )
}
