import type { BrandingBody } from '@ponte/contracts'
import { useWords } from '../texts/words'
import './branding.css'

/** Where a payer asks the merchant, and the merchant's terms. */
export function MerchantLinks({ branding, merchant }: { branding: BrandingBody | null; merchant: string }) {
  const { t } = useWords()
  if (branding === null || (branding.contact_email === null && branding.terms_url === null)) return null
  return (
    <p className="merchant-links no-print">
      {branding.contact_email !== null && <a href={`mailto:${branding.contact_email}`}>{t.contactOf(merchant)}</a>}
      {branding.terms_url !== null && /^https?:\/\//.test(branding.terms_url) && (
        <a href={branding.terms_url} target="_blank" rel="noopener noreferrer">
          {t.termsOf(merchant)}
        </a>
      )}
    </p>
  )
}

/** The picture beside the merchant's name, which is read with it. */
export function MerchantLogo({ branding }: { branding: BrandingBody | null }) {
  if (!branding?.logo_url?.startsWith('/logos/')) return null
  return <img className="merchant-logo" src={branding.logo_url} alt="" width="56" height="56" />
}
