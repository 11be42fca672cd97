import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { Mark } from '../../brand/mark'
import { useOnline } from '../../connection'
import { logOut } from '../api/session'
import { useRole } from '../api/use-memberships'
import { AttentionCount } from '../attention/attention-count'
import { useWords } from '../texts/words'
import { CommandBox } from './command-box'
import { pages } from './pages'
import { StoreSwitch } from './store-switch'
import { Tools } from './tools'
import './frame.css'

/** Around every page: its place, the navigation, and the way out. */
export function Frame({ merchantId, name, children }: { merchantId: string | undefined; name: string | undefined; children: ReactNode }) {
  const { t } = useWords()
  const [location] = useLocation()
  const pagesShown = useRef<HTMLElement>(null)
  // On a phone the pages stand in a row that is wider than the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another place in the row
  useEffect(() => {
    pagesShown.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
  }, [location])
  const content = usePageChange(location)
  const isOnline = useOnline()
  const isHere = (path: string) => (path === '/' ? location === '/' : location.startsWith(path))
  return (
    <div className="frame" data-role={useRole() ?? undefined}>
      <a className="skip" href="#content">
        {t.skip}
      </a>
      <aside className="rail">
        <Link href="/" className="brand">
          <Mark /> Ponte
        </Link>
        <CommandBox />
        <nav aria-label={t.navLabel} ref={pagesShown}>
          {pages.map(page => (
            <Link key={page.path} href={page.path} aria-current={isHere(page.path) ? 'page' : undefined}>
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={page.icon} />
              </svg>
              <span>{t.nav[page.name]}</span>
              {page.name === 'attention' && <AttentionCount />}
            </Link>
          ))}
        </nav>
        <div className="rail-end">
          <StoreSwitch id={merchantId} name={name} />
          <Tools />
          <Link href="/login" className="plain" aria-current={isHere('/login') ? 'page' : undefined}>
            {t.signIn.own.title}
          </Link>
          <button type="button" className="plain" onClick={() => void logOut()}>
            {t.logOut}
          </button>
        </div>
      </aside>
      <main id="content" tabIndex={-1} ref={content}>
        {!isOnline && (
          <p className="offline" role="status">
            {t.offline}
          </p>
        )}
        {children}
      </main>
    </div>
  )
}

/** Another page begins at its top, with the focus in it; going back leaves the scroll position to the browser. */
function usePageChange(location: string) {
  const content = useRef<HTMLElement>(null)
  const shown = useRef(location)
  const isBack = useRef(false)
  useEffect(() => {
    const onPop = () => {
      isBack.current = true
    }
    window.addEventListener('popstate', onPop)
    return () => window.removeEventListener('popstate', onPop)
  }, [])
  useEffect(() => {
    if (shown.current === location) return
    shown.current = location
    content.current?.focus({ preventScroll: true })
    if (!isBack.current) window.scrollTo(0, 0)
    isBack.current = false
  }, [location])
  return content
}
