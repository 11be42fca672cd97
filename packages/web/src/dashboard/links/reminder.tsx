import { Button, Textarea } from '@mantine/core'
import type { LinkBody } from '@ponte/contracts'
import { useState } from 'react'
import { useCopy } from '../../clipboard'
import { dueDay } from '../../due-day'
import { useWords } from '../texts/words'
import { useAmountOf } from './amount'
import { dueOf } from './due'

/** A message about an invoice, before and after its due date, that the merchant sends from their own telephone or mail. */
export function Reminder({ link, shop }: { link: LinkBody; shop: string }) {
  const { t, language } = useWords()
  const amountOf = useAmountOf()
  const { copied, copy } = useCopy()
  const due = t.share.dues[dueOf(link, new Date())](link.due_at === null ? '' : dueDay(link.due_at, language))
  const [text, setText] = useState(
    `${t.share.reminderTo(link.customer?.name ?? null, shop, link.external_ref ?? link.description, amountOf(link), due)}\n${link.url}`,
  )
  const written = encodeURIComponent(text)
  const subject = encodeURIComponent(`${shop}: ${link.external_ref ?? link.description}`)
  const email = link.customer?.email
  return (
    <details open={link.status === 'overdue' || undefined}>
      <summary>{t.share.reminder}</summary>
      <Textarea
        label={t.share.reminderText}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
        rows={6}
        maxLength={1_000}
        my="sm"
      />
      <div className="buttons">
        <Button component="a" href={`https://wa.me/?text=${written}`} target="_blank" rel="noreferrer">
          {t.share.whatsApp}
        </Button>
        {email && (
          <Button component="a" href={`mailto:${encodeURIComponent(email)}?subject=${subject}&body=${written}`} variant="default">
            {t.share.mail}
          </Button>
        )}
        <Button variant="default" onClick={() => copy(text)}>
          {copied ? t.copied : t.share.copyText}
        </Button>
      </div>
    </details>
  )
}
