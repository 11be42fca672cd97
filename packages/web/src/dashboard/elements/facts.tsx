import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { shortened } from '../../amounts'
import { CopyValue } from './copy'
import './facts.css'

type Fact = [label: string, value: ReactNode]

/** Rows that are not there are left out. */
export function Facts({ rows }: { rows: readonly (Fact | null | false | undefined | '')[] }) {
  return (
    <dl className="facts">
      {rows
        .filter(row => !!row)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

export const idFact = (id: string): Fact => ['ID', <CopyValue key="id" value={id} label="ID" shown={shortened(id, 13)} />]

/** The page of what has this id, by which it is named. */
export const linkFact = (label: string, path: string, id: string): Fact => [
  label,
  <Link key={path} href={`${path}/${id}`}>
    {shortened(id, 13)}
  </Link>,
]
