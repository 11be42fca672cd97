import type { ReactNode, Ref } from 'react'
import './card.css'

interface CardProps {
  title?: ReactNode
  className?: string
  /** For focus that a script moves here. */
  ref?: Ref<HTMLElement>
  children: ReactNode
}

export function Card({ title, className = '', ref, children }: CardProps) {
  return (
    <section className={`card ${className}`.trimEnd()} {...(ref ? { ref, tabIndex: -1 } : {})}>
      {title !== undefined && <h2>{title}</h2>}
      {children}
    </section>
  )
}

export function Columns({ children }: { children: ReactNode }) {
  return <div className="columns">{children}</div>
}
