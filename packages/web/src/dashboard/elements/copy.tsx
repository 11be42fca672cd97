import { Button } from '@mantine/core'
import { useCopy } from '../../clipboard'
import { useWords } from '../texts/words'
import './copy.css'

function CopyButton({ value, label }: { value: string; label: string }) {
  const { t } = useWords()
  const { copied, copy } = useCopy()
  return (
    <>
      <Button variant="subtle" size="compact-sm" onClick={() => copy(value)} aria-label={t.copyOf(label)}>
        {copied ? t.copied : t.copy}
      </Button>
      <span className="hidden" role="status">
        {copied ? t.copied : ''}
      </span>
    </>
  )
}

const MASK = '••••••••••••••••••••'

interface CopyValueProps {
  value: string
  label: string
  shown?: string
  /** It can be copied and is not in the page, not even for a pointer that rests on it. */
  isHidden?: boolean
}

/** A long value, cut to one line, with all of it a click away. */
export function CopyValue({ value, label, shown = value, isHidden = false }: CopyValueProps) {
  return (
    <span className="copy-value">
      <span className="mono cut" {...(isHidden ? {} : { title: value })}>
        {isHidden ? MASK : shown}
      </span>
      <CopyButton value={value} label={label} />
    </span>
  )
}

/** A page that the merchant sends to a payer: its address to copy, and the way to look at it. */
export function LinkLine({ url, label, action }: { url: string; label: string; action: string }) {
  return (
    <div className="link-line">
      <CopyValue value={url} label={label} />
      <Button component="a" href={url} target="_blank" rel="noreferrer" variant="light">
        {action}
      </Button>
    </div>
  )
}

export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className="code">
      <section aria-label={label}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a block that scrolls is reached by keyboard too */}
        <pre tabIndex={0}>{text}</pre>
      </section>
      <CopyButton value={text} label={label} />
    </div>
  )
}
