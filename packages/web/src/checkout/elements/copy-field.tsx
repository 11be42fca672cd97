import { useCopy } from '../../clipboard'
import { useWords } from '../texts/words'
import './copy-field.css'

/** A value that the payer has to carry elsewhere, exactly. */
export function CopyField({ label, value }: { label: string; value: string }) {
  const { t } = useWords()
  const { copied, copy } = useCopy()
  return (
    <div className="field">
      <div className="field-text">
        <span className="field-label">{label}</span>
        <Hex text={value} />
      </div>
      <button type="button" className="quiet" onClick={() => copy(value)} aria-label={t.copyOf(label)}>
        {copied ? t.copied : t.copy}
      </button>
      <Announced isCopied={copied} />
    </div>
  )
}

/** The same with a button as wide as the page: for what every payer by transfer needs. */
export function CopyBlock({ label, value, shown, action }: { label: string; value: string; shown?: string; action: string }) {
  const { t } = useWords()
  const { copied, copy } = useCopy()
  return (
    <div className="copy-block">
      <span className="field-label">{label}</span>
      {shown === undefined ? <Hex text={value} /> : <strong className="copy-amount">{shown}</strong>}
      <button type="button" className="secondary" onClick={() => copy(value)}>
        {copied ? t.copied : action}
      </button>
      <Announced isCopied={copied} />
    </div>
  )
}

const ADDRESS_LENGTH = 42

/** An address breaks in its middle when its line is too long; a hash, which is compared and not read, breaks anywhere. */
function Hex({ text }: { text: string }) {
  const half = text.length === ADDRESS_LENGTH ? ADDRESS_LENGTH / 2 : text.length
  return (
    <span className="field-value mono">
      {text.slice(0, half)}
      <wbr />
      {text.slice(half)}
    </span>
  )
}

function Announced({ isCopied }: { isCopied: boolean }) {
  const { t } = useWords()
  return (
    <span className="hidden" role="status">
      {isCopied ? t.copied : ''}
    </span>
  )
}
