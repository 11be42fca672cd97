import type { ReactNode } from 'react'
import './card.css'

export function Card({ title, className = '', children }: { title?: ReactNode; className?: string; children: ReactNode }) {
  return (
    <section className={`card ${className}`.trimEnd()}>
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </section>
  )
}

/** Cards side by side where there is room. */
export function Columns({ children }: { children: ReactNode }) {
  return <div className="columns">{children}</div>
}
