import type { ExplanationBody, OrderBody } from '@ponte/contracts'
import { useMutation } from '@tanstack/react-query'
import { Link } from 'wouter'
import { sentenceOf } from '../../explanation/sentence'
import { api } from '../api/api'
import { Card } from '../elements/card'
import { SentElsewhere } from '../elsewhere/sent-elsewhere'
import { isMixedUp } from '../elsewhere/stray-deposit'
import { CheckedForm } from '../forms/checked-form'
import { txHash } from '../forms/rules'
import { useWords } from '../texts/words'
import './quoted-transaction.css'
import { Field } from '../forms/field'

/** For a merchant whose customer paid and whose order does not show it: the hash of a transaction in, one sentence out. */
export function QuotedTransaction({ order }: { order: OrderBody }) {
  const { t } = useWords()
  const work = useMutation({ mutationFn: (hash: string) => api.explainOrder(order.id, hash) })
  return (
    <Card title={t.explanation.merchantTitle}>
      <CheckedForm
        rules={{ tx_hash: [txHash] }}
        work={work}
        onSubmit={text => work.mutate(text('tx_hash'))}
        verb={t.explanation.ask}
        variant="default"
      >
        <Field name="tx_hash" label={t.explanation.hash} maxLength={500} autoCapitalize="off" spellCheck={false} />
      </CheckedForm>
      <div role="status" className="quoted-answer">
        {work.data && <Answer found={work.data} />}
      </div>
      {work.data && isElsewhere(order, work.data) && <SentElsewhere key={work.data.tx_hash} order={order} hash={work.data.tx_hash} />}
    </Card>
  )
}

/** On no network that is followed, or on one of them at the address that the order has on another one. */
const isElsewhere = (order: OrderBody, { code, recipient_address: recipient }: ExplanationBody) =>
  order.payment.deposit_address !== null && (code === 'not_found' || (code === 'wrong_recipient' && isMixedUp(order, recipient)))

function Answer({ found }: { found: ExplanationBody }) {
  const { t, usdc } = useWords()
  return (
    <>
      <p>{sentenceOf(t.explanation, found, usdc)}</p>
      {found.other_order_id && <Link href={`/orders/${found.other_order_id}`}>{t.explanation.seeOther}</Link>}
    </>
  )
}
