import { useCopy } from '../clipboard'
import { useWords } from './words'

/** A value that the payer has to carry elsewhere, exactly. */
export function CopyField({ label, value, shown = value, mono = true }: { label: string; value: string; shown?: string; mono?: boolean }) {
  const { t } = useWords()
  const { copied, copy } = useCopy()
  return (
    <div className="field">
      <div className="field-text">
        <span className="field-label">{label}</span>
        <span className={mono ? 'field-value mono' : 'field-value'}>
          {/* A line that is too long breaks in its middle. */}
          {shown.slice(0, shown.length / 2)}
          <wbr />
          {shown.slice(shown.length / 2)}
        </span>
      </div>
      <button type="button" className="quiet" onClick={() => copy(value)} aria-label={t.copyOf(label)}>
        {copied ? t.copied : t.copy}
      </button>
      <span className="hidden" role="status">
        {copied ? t.copied : ''}
      </span>
    </div>
  )
}
