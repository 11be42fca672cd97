import { useWords } from '../texts'
import './way-back.css'

/** Only what leads to a web page is ever a link, whatever the service answers. */
function hostOf(url: string | undefined): string | null {
  const parsed = url === undefined ? null : URL.parse(url)
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.host : null
}

/** The way back to the shop. It names where it leads before anyone goes there, and no one is sent there by the page itself. */
export function WayBack({ url, isPaid }: { url: string | undefined; isPaid: boolean }) {
  const { t } = useWords()
  const host = hostOf(url)
  if (host === null) return null
  return (
    <p className="way-back no-print">
      <a className={isPaid ? 'primary' : 'quiet'} href={url} rel="noreferrer">
        {isPaid ? t.backToShop : t.backWithoutPaying}
      </a>
      <span className="faint">{t.leavesFor(host)}</span>
    </p>
  )
}
