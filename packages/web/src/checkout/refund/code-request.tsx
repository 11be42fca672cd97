import { useState } from 'react'
import { clock, useSecondsUntil } from '../live/countdown'
import { useWords } from '../texts/words'
import type { Texts } from './texts-pt'
import type { PayerRefund } from './use-payer-refund'

interface CodeRequestProps extends Pick<PayerRefund, 'askCode' | 'clockOffsetMs'> {
  own: Texts
  email: string
  /** Null where no code is left. */
  availableAt: string | null
}

/** Has a code mailed to where the shop knows the payer; after a minute another one. */
export function CodeRequest({ own, email, availableAt, clockOffsetMs, askCode }: CodeRequestProps) {
  const { language } = useWords()
  const [state, setState] = useState<'idle' | 'sending' | 'sent' | 'failed'>('idle')
  const ask = async () => {
    setState('sending')
    try {
      await askCode(language)
      setState('sent')
    } catch {
      setState('failed')
    }
  }
  return (
    <div className="code-request">
      <p>{own.codeHint(email)}</p>
      {availableAt !== null && (
        <CodeButton availableAt={availableAt} clockOffsetMs={clockOffsetMs} isBusy={state === 'sending'} onAsk={() => void ask()}>
          {wait => (wait > 0 ? own.askAgain(clock(wait)) : state === 'idle' ? own.askCode : own.askNow)}
        </CodeButton>
      )}
      <p role="status" className="faint">
        {state === 'sent' && own.codeSent} {availableAt === null && own.noMoreCodes}
      </p>
      <p role="alert" className="claim-fault">
        {state === 'failed' && own.codeUnsent}
      </p>
    </div>
  )
}

interface CodeButtonProps {
  availableAt: string
  clockOffsetMs: number | null
  isBusy: boolean
  onAsk(): void
  children(wait: number): string
}

/** Where the server's clock is not known yet nothing is waited for: asked too early, it mails none and answers from when on it does. */
function CodeButton({ availableAt, clockOffsetMs, isBusy, onAsk, children }: CodeButtonProps) {
  const seconds = useSecondsUntil(availableAt, clockOffsetMs ?? 0)
  const wait = clockOffsetMs === null ? 0 : seconds
  return (
    <button type="button" className="secondary" disabled={isBusy || wait > 0} onClick={onAsk}>
      {children(wait)}
    </button>
  )
}
