import type { ReactNode } from 'react'
import './badge.css'

export type Tone = 'good' | 'wait' | 'warn' | 'bad' | 'calm'

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>
}
