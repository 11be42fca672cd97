import type { ReactNode } from 'react'
import { Link } from 'wouter'
import './heading.css'

export function Heading({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <div className="heading">
      <h1>{title}</h1>
      <div className="heading-actions">{children}</div>
    </div>
  )
}

export function Back({ to, title }: { to: string; title: string }) {
  return (
    <Link href={to} className="back">
      ← {title}
    </Link>
  )
}
