import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { Mark } from '../../brand/mark'
import { useOnline } from '../../connection'
import { logOut } from '../api/session'
import { useRole } from '../api/use-memberships'
import { AttentionCount } from '../attention/attention-count'
import { useWords } from '../texts/words'
import { StoreSwitch } from './store-switch'
import { Tools } from './tools'
import './frame.css'

const pages = [
  { path: '/', name: 'overview', icon: 'M3 10.5 10 4l7 6.5M5 9v7h10V9' },
  { path: '/orders', name: 'orders', icon: 'M5 3h10v14l-2.5-1.5L10 17l-2.5-1.5L5 17zM8 7.5h4M8 11h4' },
  {
    path: '/links',
    name: 'links',
    icon: 'M8.5 11.5a3 3 0 0 0 4.2 0l3-3a3 3 0 0 0-4.2-4.2l-1 1M11.5 8.5a3 3 0 0 0-4.2 0l-3 3a3 3 0 0 0 4.2 4.2l1-1',
  },
  { path: '/month', name: 'month', icon: 'M4 5h12v12H4zM4 9h12M7 3v4M13 3v4M7.5 13h5' },
  { path: '/attention', name: 'attention', icon: 'M10 3a5 5 0 0 0-5 5v4l-1.5 2h13L15 12V8a5 5 0 0 0-5-5M8.5 17h3' },
  {
    path: '/subscriptions',
    name: 'subscriptions',
    icon: 'M4 9a6 6 0 0 1 10.5-3L16 7.5M16 4v3.5h-3.5M16 11a6 6 0 0 1-10.5 3L4 12.5M4 16v-3.5h3.5',
  },
  { path: '/deliveries', name: 'deliveries', icon: 'M17 3 9 11M17 3l-5 14-3-6-6-3z' },
  { path: '/developers', name: 'developers', icon: 'M7 6 3 10l4 4M13 6l4 4-4 4' },
  {
    path: '/team',
    name: 'team',
    icon: 'M7.5 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2 17v-2a5.5 4 0 0 1 11 0v2M13.5 9a2.5 2.5 0 0 0 0-5M15 11.5a4 4 0 0 1 3 4V17',
  },
  { path: '/settings', name: 'settings', icon: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4' },
] as const

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
