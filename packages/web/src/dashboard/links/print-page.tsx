import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { dueDay } from '../../due-day'
import { QrCode } from '../../qr-code'
import { api } from '../api/api'
import { Back, Heading } from '../frame/heading'
import { NotYet } from '../frame/missing'
import { usePageTitle } from '../frame/page-title'
import { useWords } from '../texts/words'
import { useAmountOf } from './amount'
import './share.css'

/** A link on paper: a sheet of A4 for the counter, with the code that leads to it. */
export function PrintPage({ id, shop }: { id: string; shop: string }) {
  const { t, language } = useWords()
  const amountOf = useAmountOf()
  const found = useQuery({ queryKey: ['link', id], queryFn: () => api.link(id) })
  const branding = useQuery({ queryKey: ['branding'], queryFn: api.branding })
  const link = found.data
  usePageTitle(t.share.toPrint)
  const back = <Back to="/links" title={t.links.title} />
  if (!link) return <NotYet of={found} back={back} missing={t.share.missing} />
  const logo = branding.data?.logo_url
  return (
    <>
      {back}
      <Heading title={t.share.toPrint}>
        <Button onClick={() => window.print()}>{t.share.print}</Button>
      </Heading>
      <article className="poster">
        {logo && <img src={logo} alt="" />}
        <p className="poster-shop">{shop}</p>
        <p className="poster-amount">{amountOf(link)}</p>
        <p className="poster-what">{link.description}</p>
        {link.due_at && <p>{t.share.due(dueDay(link.due_at, language))}</p>}
        <div className="share-code">
          <QrCode text={link.url} label={t.share.scan} />
        </div>
        <p>{t.share.scanToPay}</p>
        <p className="mono poster-url">{link.url}</p>
        <p className="poster-note">{t.share.paidIn}</p>
      </article>
    </>
  )
}
