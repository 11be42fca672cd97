import type { ReactNode } from 'react'
import { Mark } from '../../brand/mark'
import { Tools } from '../frame/tools'
import './door.css'

/** The page around what comes before the dashboard: login, the first store, its key. */
export function Door({ children }: { children: ReactNode }) {
  return (
    <div className="door">
      <header>
        <span className="brand">
          <Mark /> Ponte
        </span>
        <Tools />
      </header>
      <main className="door-card">{children}</main>
    </div>
  )
}
