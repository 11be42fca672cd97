import type { ReactNode } from 'react'
import { Mark } from '../../brand/mark'
import { useWords } from '../texts/words'
import { PageTools } from './page-tools'

/** Around every page of a payer. */
export function PageFrame({ children }: { children: ReactNode }) {
  const { t } = useWords()
  return (
    <div className="page">
      <header>
        <span className="brand">
          <Mark /> Ponte
        </span>
        <PageTools />
      </header>
      {children}
      <footer>{t.madeBy}</footer>
    </div>
  )
}
