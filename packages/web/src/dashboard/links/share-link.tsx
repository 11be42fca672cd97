import { Button } from '@mantine/core'
import type { LinkBody } from '@ponte/contracts'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { QrCode } from '../../qr-code'
import { api } from '../api/api'
import { CodeBlock, CopyValue } from '../elements/copy'
import { Failure } from '../elements/states'
import { Dialog } from '../forms/dialog'
import { saveBlob } from '../lists/save-blob'
import { useWords } from '../texts/words'
import { useAmountOf } from './amount'
import { anchorLine, buttonLine } from './button-lines'
import { qrPng, qrSvg } from './qr-files'
import { Reminder } from './reminder'
import './share.css'

/** A button, and the ways in which a link reaches a payer. */
export function ShareLink({ link }: { link: LinkBody }) {
  const { t } = useWords()
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button
        size="compact-sm"
        variant="light"
        onClick={() => setAsked(true)}
        aria-label={t.share.shareOf(link.external_ref ?? link.description)}
      >
        {t.share.share}
      </Button>
      <Dialog title={t.share.share} opened={isAsked} onClose={() => setAsked(false)}>
        <Ways link={link} />
      </Dialog>
    </>
  )
}

function Ways({ link }: { link: LinkBody }) {
  const { id, url, description } = link
  const { t, language } = useWords()
  const amountOf = useAmountOf()
  const merchant = useQuery({ queryKey: ['merchant'], queryFn: api.merchant })
  const shop = merchant.data?.display_name ?? ''
  const text = t.share.message(shop, description, amountOf(link))
  const save = useMutation({
    mutationFn: async (format: 'png' | 'svg') => saveBlob(await { png: qrPng, svg: qrSvg }[format](url), `qr-${id}.${format}`),
  })
  return (
    <div className="share">
      <div className="share-code">
        <QrCode text={url} label={t.share.scan} />
      </div>
      <CopyValue value={url} label={t.links.url} />
      <div className="buttons">
        {'share' in navigator && (
          // The reader who closes the system's sheet has shared nothing, which is no fault.
          <Button onClick={() => void navigator.share({ title: shop, text, url }).catch(() => undefined)}>{t.share.send}</Button>
        )}
        <Button component="a" href={`https://wa.me/?text=${encodeURIComponent(`${text} ${url}`)}`} target="_blank" rel="noreferrer">
          {t.share.whatsApp}
        </Button>
        <Button variant="default" onClick={() => save.mutate('png')}>
          {t.share.png}
        </Button>
        <Button variant="default" onClick={() => save.mutate('svg')}>
          {t.share.svg}
        </Button>
        <Button component={Link} href={`/links/${id}/print`} variant="default">
          {t.share.toPrint}
        </Button>
      </div>
      {save.error && <Failure error={save.error} />}
      {link.kind === 'invoice' && merchant.data && <Reminder link={link} shop={shop} />}
      <details>
        <summary>{t.share.onSite}</summary>
        <p>{t.share.buttonText}</p>
        <CodeBlock text={buttonLine(url, language)} label={t.share.button} />
        <p>{t.share.anchorText}</p>
        <CodeBlock text={anchorLine(url, t.share.pay)} label={t.share.anchor} />
      </details>
    </div>
  )
}
