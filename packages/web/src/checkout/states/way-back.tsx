import { useWords } from '../texts/words'
import './way-back.css'

/** Only what leads to a web page is ever a link, whatever the service answers. */
function hostOf(url: string | undefined): string | null {
  try {
    // Phones of 2023 have neither URL.parse nor URL.canParse.
    const { protocol, host } = new URL(url ?? '')
    return /^https?:$/.test(protocol) ? host : null
  } catch {
    return null
  }
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
