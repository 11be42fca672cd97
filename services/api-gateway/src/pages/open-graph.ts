import type { PayerLinkBody } from '@ponte/contracts'
import { escapeHtml } from '../docs/page-text'

/** Messengers cut it anyway, and the page has it in full. */
const DESCRIPTION_MAX = 200

/** A payer's page in a preview: nothing but these of it. */
export interface Preview {
  shop: string
  /** The one amount, or the least and the most that a payer may choose. */
  reais: readonly string[]
  description: string | null
  /** URL of a picture, which programs load from anywhere. */
  picture: string | null
}

export const reaisOf = ({ brl_amount, brl_amount_min, brl_amount_max }: Pick<PayerLinkBody, `brl_amount${'' | '_min' | '_max'}`>) =>
  (brl_amount === null ? [brl_amount_min, brl_amount_max] : [brl_amount]).filter(amount => amount !== null)

/** Elements for a page's head (https://ogp.me). */
export function openGraph({ shop, reais, description, picture }: Preview): string {
  const amount = [...new Set(reais)].map(formatReais).join(' – ')
  const properties = {
    'og:type': 'website',
    'og:site_name': 'Ponte',
    'og:title': [shop, amount].filter(Boolean).join(' · '),
    'og:description': description && shortened(description),
    'og:image': picture,
  }
  return Object.entries(properties)
    .map(([property, content]) => (content ? `<meta property="${property}" content="${escapeHtml(content)}">` : ''))
    .join('')
}

function formatReais(decimal: string): string {
  const [whole = '', cents = '00'] = decimal.split('.')
  return `R$ ${whole.replace(/\B(?=(\d{3})+$)/g, '.')},${cents}`
}

function shortened(text: string): string {
  const characters = [...text.replace(/\s+/g, ' ').trim()]
  return characters.length <= DESCRIPTION_MAX ? characters.join('') : `${characters.slice(0, DESCRIPTION_MAX - 1).join('')}…`
}
