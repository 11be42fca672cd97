import type { BrandingBody, CheckoutBody } from '@ponte/contracts'
import { formatUsdc, parseUsdc } from '@ponte/contracts/money'
import { useEffect } from 'react'
import { useCopy } from '../../clipboard'
import { localeOf } from '../../language'
import { networkName } from '../../networks'
import { Absent } from '../elements/absent'
import { NoticeOf } from '../elements/notice'
import { PageFrame } from '../elements/page-frame'
import { useAskedAgain } from '../live/use-asked-again'
import { useWords } from '../texts/words'
import { en } from './texts-en'
import { pt } from './texts-pt'
import './receipt-page.css'

const texts = { pt, en }
const REFRESH_MS = 5_000
const isCounted = ({ payments }: CheckoutBody) => payments.some(({ status }) => status === 'confirmed')
const isComing = ({ payments }: CheckoutBody) => payments.some(({ status }) => status === 'detected')
// The parts of an invoice that do the same would be split off from it, and its first load has no room for that.
const untilPaid = (checkout: CheckoutBody) => (checkout.status === 'paid' && !isComing(checkout) ? null : REFRESH_MS)
const once = () => null

function useTexts() {
  const words = useWords()
  const { language } = words
  /** On paper nothing else names the zone. */
  const when = (iso: string) => new Date(iso).toLocaleString(localeOf(language), { dateStyle: 'medium', timeStyle: 'long' })
  return { ...words, own: texts[language], when }
}

/** A payer's receipt as a document for paper, under a link that stays. */
export function ReceiptPage({ token: orderId }: { token: string }) {
  const { own } = useTexts()
  const path = `/api/v1/checkout/${encodeURIComponent(orderId)}`
  const { body: checkout, failure } = useAskedAgain<CheckoutBody>(path, untilPaid)
  const branding = useAskedAgain<BrandingBody>(`${path}/branding`, once).body
  const merchant = checkout?.merchant_name
  const title = checkout && isCounted(checkout) ? own.receipt : own.invoice
  useEffect(() => {
    if (merchant) document.title = `${title} · ${merchant}`
  }, [merchant, title])
  const hasMoney = checkout !== null && checkout.payments.some(({ status }) => status !== 'orphaned')
  return (
    <PageFrame>
      {checkout && hasMoney ? (
        <Document checkout={checkout} branding={branding} />
      ) : (
        <main className="sheet alone">
          {checkout ? (
            <NoticeOf tone="wait" text={own.states.unpaid}>
              <a className="quiet flush" href={`/pay/${checkout.id}`}>
                {own.toInvoice}
              </a>
            </NoticeOf>
          ) : (
            <Absent failure={failure} loading={own.loading} states={own.states} />
          )}
        </main>
      )}
    </PageFrame>
  )
}

function Document({ checkout, branding }: { checkout: CheckoutBody; branding: BrandingBody | null }) {
  const words = useTexts()
  const { own, t } = words
  const { copied, copy } = useCopy()
  const counted = isCounted(checkout)
  const address = `${window.location.origin}/pay/receipt/${checkout.id}`
  return (
    <main className="sheet alone receipt-document" data-status={checkout.status}>
      <div className="receipt-head">
        <div>
          <p className="kicker">{counted ? own.title : own.invoice}</p>
          <h1>{checkout.merchant_name}</h1>
          {branding?.contact_email && <p className="faint">{branding.contact_email}</p>}
        </div>
        {branding?.logo_url?.startsWith('/logos/') && (
          <img className="receipt-logo" src={branding.logo_url} alt="" width="56" height="56" />
        )}
      </div>
      <Facts rows={factsOf(checkout, words)} />
      <h2>{own.payments}</h2>
      {checkout.payments.map(payment => (
        <Payment key={`${payment.tx_hash} ${payment.amount} ${payment.status}`} payment={payment} networks={checkout.payment.networks} />
      ))}
      {counted && <p className="faint">{own.noTaxDocument}</p>}
      <p className="faint">
        {counted ? own.stays : own.notYet} <span className="mono">{address}</span>
      </p>
      <div className="actions no-print">
        <button type="button" className="primary" onClick={() => window.print()}>
          {own.print}
        </button>
        <button type="button" className="quiet" onClick={() => copy(address)}>
          {copied ? own.copied : own.copyLink}
        </button>
        <a className="quiet" href={`/pay/${checkout.id}`}>
          {own.toInvoice}
        </a>
        <span className="hidden" role="status">
          {copied ? t.copied : ''}
        </span>
      </div>
    </main>
  )
}

type Row = readonly [name: string, value: string, look?: 'mono']
type Network = Pick<CheckoutBody['payment'], 'network' | 'chain_id' | 'token_address'>

const networkRows = (
  { network, chain_id, token_address }: Network,
  { network: name, token }: ReturnType<typeof useTexts>['own'],
): Row[] => [
  [name, `${networkName(chain_id, network)} (chain ID ${chain_id})`],
  [token, token_address, 'mono'],
]

/** The whole of the invoice and of what came, each figure with its name. */
function factsOf(checkout: CheckoutBody, { own, brl, usdc, when, t }: ReturnType<typeof useTexts>): Row[] {
  const { payment, quote, payments } = checkout
  const sumOf = (isPart: (status: string) => boolean) =>
    payments.reduce((total, { status, amount }) => (isPart(status) ? total + parseUsdc(amount) : total), 0n)
  const sum = sumOf(status => status !== 'orphaned')
  const confirmed = sumOf(status => status === 'confirmed')
  const surplus = sum - parseUsdc(checkout.usdc_amount)
  const rate = t.rateValue(brl(quote.rate.replace(/0{1,4}$/, '')))
  const given = (name: string, value: string | null | undefined): Row[] => (value ? [[name, value]] : [])
  return [
    ...given(own.orderNumber, checkout.external_ref),
    [own.invoice, checkout.id, 'mono'],
    ...given(own.about, checkout.description),
    ...(checkout.paid_at ? ([[own.paidAt, when(checkout.paid_at)]] as const) : []),
    [own.amount, brl(checkout.brl_amount)],
    [own.rate, `${rate} (${quote.source}, ${when(quote.as_of)})`],
    [own.asked, usdc(checkout.usdc_amount)],
    [own.sent, usdc(formatUsdc(sum))],
    ...(surplus > 0n ? ([[own.surplus, usdc(formatUsdc(surplus))]] as const) : []),
    // Of what is not confirmed the shop has nothing yet.
    ...(confirmed > 0n
      ? ([
          [own.fee, usdc(formatUsdc(confirmed - parseUsdc(checkout.received)))],
          [own.reached, usdc(checkout.received)],
        ] as const)
      : []),
    // Of several networks each payment names its own.
    ...(payment.networks ? [] : networkRows(payment, own)),
    [own.shop, shopAddresses(checkout).join(', '), 'mono'],
    [own.memo, checkout.memo, 'mono'],
  ]
}

/** Of the networks on which it was paid. */
const shopAddresses = ({ payment, payments }: CheckoutBody): string[] => {
  const ofNetwork = new Map(payment.networks?.map(({ chain_id, merchant_address }) => [chain_id, merchant_address]))
  return [...new Set(payments.map(({ chain_id }) => ofNetwork.get(chain_id ?? payment.chain_id) ?? payment.merchant_address))]
}

function Facts({ rows }: { rows: readonly Row[] }) {
  return (
    <dl className="facts ruled">
      {rows.map(([name, value, look]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={look}>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Payment({ payment, networks }: { payment: CheckoutBody['payments'][number]; networks: Network[] | undefined }) {
  const { own, t, usdc, when } = useTexts()
  const moved = payment.settlement.tx_hash
  const network = networks?.find(({ chain_id }) => chain_id === payment.chain_id)
  const rows: Row[] = [
    [usdc(payment.amount), `${t.paymentStatuses[payment.status]} · ${own.kinds[payment.kind]}`],
    [when(payment.block_time), `${own.block} ${payment.block_number}`],
    payment.payer_address ? [own.sender, payment.payer_address, 'mono'] : [own.sender, own.unknownSender],
    ...(network ? networkRows(network, own) : []),
    [own.transaction, payment.tx_hash, 'mono'],
    ...(moved && moved !== payment.tx_hash ? ([[own.movedBy, moved, 'mono']] as const) : []),
  ]
  return <Facts rows={rows} />
}
