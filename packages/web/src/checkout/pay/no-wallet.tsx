import { useCopy } from '../../clipboard'
import { QrCode } from '../../qr-code'
import { useWords } from '../texts/words'
import { isPhone, walletLinks } from './wallet-links'

/** A browser without a wallet: a phone opens the page in a wallet's own browser, a desk shows it to a phone. */
export function NoWallet() {
  const { t } = useWords()
  const { copied, copy } = useCopy()
  const page = window.location.href
  const onPhone = isPhone()
  return (
    <div className="no-wallet">
      <h3>{t.noWalletTitle}</h3>
      <p>{onPhone ? t.noWalletPhone : t.noWallet}</p>
      {onPhone ? (
        walletLinks(page).map(({ name, href }) => (
          <a key={name} className="secondary" href={href}>
            {t.openWith(name)}
          </a>
        ))
      ) : (
        <QrCode text={page} label={t.pageQr} />
      )}
      <button type="button" className={onPhone ? 'quiet flush' : 'secondary'} onClick={() => copy(page)}>
        {copied ? t.copied : t.copyPage}
      </button>
    </div>
  )
}
