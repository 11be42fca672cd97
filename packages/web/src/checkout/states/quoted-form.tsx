import type { ExplanationBody } from '@ponte/contracts'
import { type FormEvent, useId, useState } from 'react'
import { explanationEn } from '../../explanation/explanation-en'
import { explanationPt } from '../../explanation/explanation-pt'
import { faultOf, sentenceOf } from '../../explanation/sentence'
import { useLanguage } from '../../language'
import { ask } from '../../problem'
import type { Folded } from '../elements/fold'
import { useWords } from '../texts/words'

/** The hash of a transaction in, one sentence out. */
export const QuotedForm: Folded = ({ checkout }) => {
  const { usdc } = useWords()
  const t = useLanguage() === 'pt' ? explanationPt : explanationEn
  const [answer, setAnswer] = useState<{ found: ExplanationBody } | { error: unknown } | 'asked'>()
  const [field, result] = [useId(), useId()]
  const isAsked = answer === 'asked'
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const hash = String(new FormData(event.currentTarget).get('tx_hash') ?? '').trim()
    if (isAsked) return
    setAnswer('asked')
    setAnswer(await explain(checkout.id, hash).catch((error: unknown) => ({ error })))
  }
  const isFault = typeof answer === 'object' && 'error' in answer
  return (
    <form className="folded" onSubmit={submit} noValidate>
      <label htmlFor={field}>{t.hash}</label>
      <div className="folded-line">
        <input
          id={field}
          name="tx_hash"
          className="mono"
          maxLength={500}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          aria-invalid={isFault}
          aria-describedby={result}
        />
        <button type="submit" className="quiet" aria-disabled={isAsked}>
          {isAsked ? t.asking : t.ask}
        </button>
      </div>
      <p id={result} role="status">
        {typeof answer === 'object' && ('error' in answer ? faultOf(t, answer.error) : sentenceOf(t, answer.found, usdc))}
      </p>
    </form>
  )
}

async function explain(orderId: string, hash: string): Promise<{ found: ExplanationBody }> {
  const { body } = await ask<ExplanationBody>(`/api/v1/checkout/${orderId}/explain`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ tx_hash: hash }),
  })
  return { found: body }
}
