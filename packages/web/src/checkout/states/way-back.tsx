import { useWords } from '../texts'
import './way-back.css'

/** Only what leads to a web page is ever a link, whatever the service answers. */
function hostOf(url: string | undefined): string | null {
  // Phones of 2023 have no URL.parse.
  const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : null
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.host : null
}

/** The way back to the shop. It names where it leads before anyone goes there, and no one is sent there by the page itself. */
export function WayBack({ url, look, label }: { url: string | undefined; look: 'primary' | 'quiet'; label: string }) {
  const { t } = useWords()
  const host = hostOf(url)
  if (host === null) return null
  return (
    <p className="way-back no-print">
      <a className={look} href={url} rel="noreferrer">
        {label}
      </a>
      <span className="faint">{t.leavesFor(host)}</span>
    </p>
  )
}
