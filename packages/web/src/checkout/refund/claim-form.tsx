import type { ClaimRefund, PayerRefundBody } from '@ponte/contracts'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { RequestFailed } from '../../problem'
import { usdcFrom } from '../../reais'
import { useWords } from '../texts/words'
import { CodeRequest } from './code-request'
import type { Texts } from './texts-pt'
import type { PayerRefund } from './use-payer-refund'

type Fault = keyof Texts['faults']
type Name = Exclude<keyof ClaimRefund, 'chain_id'>
type Typed = Record<Name, string>

const CODE = /^\d{6}$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const FIELDS: readonly string[] = ['payee_address', 'tx_hash', 'amount', 'code']
const NOTHING: Typed = { payee_address: '', tx_hash: '', amount: '', code: '' }

interface ClaimFormProps extends Omit<PayerRefund, 'refund' | 'failure'> {
  own: Texts
  refund: PayerRefundBody
}

/** The address is typed, then shown once more in full before it is sent. */
export function ClaimForm({ own, refund, claim, ...asking }: ClaimFormProps) {
  const { network } = refund
  // Absent in answers of the release before.
  const email = refund.email_hint ?? null
  const { language } = useWords()
  const [typed, setTyped] = useState(NOTHING)
  /** On which network it was, once it was looked at. */
  const [checked, setChecked] = useState<PayerRefundBody | null>(null)
  const [isSending, setSending] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const review = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (name: string) => String(data.get(name) ?? '').trim()
    const next: Typed = {
      ...{ payee_address: text('payee_address'), tx_hash: text('tx_hash'), amount: text('amount') },
      code: text('code').replace(/\s/g, ''),
    }
    const wrong = !ADDRESS.test(next.payee_address)
      ? 'payee_address'
      : next.tx_hash === ''
        ? 'tx_hash'
        : usdcFrom(next.amount, language) === null
          ? 'amount'
          : email !== null && !CODE.test(next.code)
            ? 'code'
            : null
    setTyped(next)
    setFault(wrong)
    setChecked(wrong === null ? refund : null)
  }
  const send = async () => {
    setSending(true)
    try {
      const { code, ...named } = typed
      const amount = usdcFrom(typed.amount, language) ?? ''
      await claim({ ...named, amount, chain_id: checked?.chain_id, ...(email === null ? {} : { code }) })
    } catch (error) {
      setFault(faultOf(error))
      setChecked(null)
    } finally {
      setSending(false)
    }
  }
  if (checked)
    return (
      <section className="claim">
        <p>{own.check}</p>
        <p>{checked.network}</p>
        <p className="mono claim-address">{inGroups(typed.payee_address)}</p>
        <button type="button" className="primary" disabled={isSending} onClick={() => void send()}>
          {isSending ? own.sending : own.send}
        </button>
        <button type="button" className="secondary" disabled={isSending} onClick={() => setChecked(null)}>
          {own.back}
        </button>
      </section>
    )
  return (
    <form className="folded claim" onSubmit={review} noValidate>
      <Field
        name="payee_address"
        label={own.payee}
        hint={own.payeeHint(network)}
        value={typed.payee_address}
        isFault={fault === 'payee_address'}
      />
      <p className="faint">{own.sender}</p>
      <Field name="tx_hash" label={own.hash} value={typed.tx_hash} isFault={fault === 'tx_hash'} />
      <Field name="amount" label={own.amount} hint={own.amountHint} value={typed.amount} isFault={fault === 'amount'} />
      {email !== null && (
        <>
          <CodeRequest own={own} email={email} availableAt={refund.code_available_at} {...asking} />
          <Field name="code" label={own.code} value={typed.code} isFault={fault === 'code'} />
        </>
      )}
      <p role="alert" className="claim-fault">
        {fault && own.faults[fault]}
      </p>
      <button type="submit" className="primary">
        {own.next}
      </button>
    </form>
  )
}

const INPUT_MODES: Partial<Record<Name, 'decimal' | 'numeric'>> = { amount: 'decimal', code: 'numeric' }

function Field({ name, label, hint, value, isFault }: { name: Name; label: string; hint?: ReactNode; value: string; isFault: boolean }) {
  const id = useId()
  return (
    <p>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        className="mono"
        defaultValue={value}
        maxLength={name === 'code' ? 7 : 500}
        inputMode={INPUT_MODES[name] ?? 'text'}
        autoComplete={name === 'code' ? 'one-time-code' : 'off'}
        autoCapitalize="off"
        spellCheck={false}
        aria-invalid={isFault}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      {hint && (
        <span id={`${id}-hint`} className="faint">
          {hint}
        </span>
      )}
    </p>
  )
}

/** In fours, as it is compared. */
const inGroups = (address: string): string => address.replace(/^0x/, '0x ').replace(/([0-9a-fA-F]{4})(?=[0-9a-fA-F])/g, '$1 ')

function faultOf(error: unknown): Fault {
  if (!(error instanceof RequestFailed)) return 'other'
  const field = error.errors.map(({ path }) => path).find((path): path is Name => FIELDS.includes(path))
  if (field) return field
  if (error.code === 'rate_limited') return 'limited'
  return error.code === 'invalid_state' ? 'invalid_state' : 'other'
}
