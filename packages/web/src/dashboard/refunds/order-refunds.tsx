import { Button } from '@mantine/core'
import type { OrderBody, RefundBody, RefundClaimBody, RefundListBody, RefundStatusName } from '@ponte/contracts'
import { parseUsdc } from '@ponte/contracts/money'
import { useQuery } from '@tanstack/react-query'
import { dayOf, shortened } from '../../amounts'
import { api } from '../api/api'
import { userId } from '../api/session'
import { Allowed, useMay } from '../api/use-memberships'
import { useNetworkName } from '../api/use-networks'
import { Badge, type Tone } from '../elements/badge'
import { Card } from '../elements/card'
import { CopyValue } from '../elements/copy'
import { Failure } from '../elements/states'
import { Confirmed } from '../forms/confirmed'
import { TransactionLine } from '../orders/transaction-line'
import { useNameOf } from '../team/use-team'
import { useWords } from '../texts/words'
import { NewRefund } from './new-refund'
import { partIn } from './part'
import { SignRefund } from './sign-refund'

const REFRESH_MS = 3_000
const tones: Record<RefundStatusName, Tone> = {
  awaiting_destination: 'wait',
  awaiting_signature: 'wait',
  awaiting_funds: 'warn',
  submitted: 'wait',
  confirmed: 'good',
  cancelled: 'calm',
}
const isOver = ({ status }: RefundBody) => status === 'confirmed' || status === 'cancelled'
const isWaiting = ({ data, claims }: RefundListBody) => !data.every(isOver) || claims.some(({ status }) => status === 'open')

/** Refunds of an order, and the button for another one; nothing while the order is open or nothing came. */
export function OrderRefunds({ order }: { order: OrderBody }) {
  const { t, usdc } = useWords()
  const isClosed = order.status === 'paid' || order.status === 'expired' || order.status === 'cancelled'
  const came = (order.payments ?? []).some(({ status }) => status === 'confirmed')
  const found = useQuery({
    queryKey: ['refunds', order.id, order.status],
    queryFn: () => api.refunds(order.id),
    enabled: isClosed && came,
    refetchInterval: ({ state }) => (state.data && isWaiting(state.data) ? REFRESH_MS : false),
  })
  const refresh = () => void found.refetch()
  if (found.error) return <Failure error={found.error} onRetry={refresh} />
  if (!found.data) return null
  const asked = found.data.claims.find(({ status }) => status === 'open')
  const mayReturn = parseUsdc(found.data.returnable) > 0n
  if (found.data.data.length === 0 && !asked && !mayReturn) return null
  return (
    <Card title={t.refunds.title}>
      <ul className="payments">
        {found.data.data.map(refund => (
          <RefundEntry
            key={refund.id}
            refund={refund}
            isNamed={found.data.claims.some(claim => claim.refund_id === refund.id)}
            chainId={order.payment.chain_id}
            onDone={refresh}
          />
        ))}
      </ul>
      {asked && <OpenClaim claim={asked} onDone={refresh} />}
      {mayReturn && (
        <>
          {parseUsdc(found.data.surplus) > 0n && <p>{t.refunds.surplus(usdc(found.data.surplus))}</p>}
          <p className="faint">{t.refunds.most(usdc(found.data.returnable))}</p>
          <Allowed to="createRefund">
            <div className="buttons">
              <NewRefund orderId={order.id} found={found.data} byLink={false} onDone={refresh} />
              {!asked && <NewRefund orderId={order.id} found={found.data} byLink onDone={refresh} />}
            </div>
          </Allowed>
        </>
      )}
    </Card>
  )
}

function RefundEntry({ refund, isNamed, chainId, onDone }: { refund: RefundBody; isNamed: boolean; chainId: number; onDone(): void }) {
  const { t, usdc, exactMoment } = useWords()
  const nameOf = useNameOf()
  const networkName = useNetworkName()
  const {
    chain_id = chainId,
    status,
    amount,
    payee_address: payee,
    tx_hash: hash,
    reason,
    requested_by: by,
    approved_by: approver,
    created_at: at,
  } = refund
  return (
    <li>
      <p className="payment-line">
        <strong>{usdc(amount)}</strong>
        <Badge tone={tones[status]}>{t.refunds.statuses[status]}</Badge>
      </p>
      <p className="faint">{[exactMoment(at), networkName(chain_id), by && nameOf(by), reason].filter(Boolean).join(' · ')}</p>
      {approver && refund.approved_at && <p className="faint">{t.refunds.approvedBy(nameOf(approver), exactMoment(refund.approved_at))}</p>}
      <p className="payment-line">
        <span className="faint">{t.refunds.to}</span>
        <CopyValue value={payee} label={t.refunds.to} shown={shortened(payee, 10)} />
      </p>
      {isNamed && status === 'awaiting_signature' && <p className="faint">{t.refunds.named}</p>}
      {hash && <TransactionLine chainId={chain_id} hash={hash} />}
      {status === 'awaiting_signature' && (
        <Allowed to="signRefund">
          <WaitingRefund refund={refund} onDone={onDone} />
        </Allowed>
      )}
    </li>
  )
}

/** A refund that waits for its signature, to the member who looks: above the limit two of them take part. */
function WaitingRefund({ refund, onDone }: { refund: RefundBody; onDone(): void }) {
  const { t, usdc } = useWords()
  const part = partIn(refund, userId())
  const cancel = (
    <Confirmed action={t.refunds.cancel} question={t.refunds.cancelSure} work={() => api.cancelRefund(refund.id)} onDone={onDone} />
  )
  const approve = part.mayApprove && (
    <Confirmed
      action={t.refunds.approve}
      question={t.refunds.approveSure(usdc(refund.amount))}
      work={() => api.approveRefund(refund.id)}
      onDone={onDone}
    >
      <p className="mono whole">{refund.payee_address}</p>
    </Confirmed>
  )
  return (
    <>
      {part.need && (
        <p className="warning" role="note">
          {t.refunds[part.need]}
        </p>
      )}
      {part.maySign ? (
        <SignRefund refund={refund} onDone={onDone}>
          {approve}
          {cancel}
        </SignRefund>
      ) : (
        <div className="buttons">
          {approve}
          {cancel}
        </div>
      )}
    </>
  )
}

/** A link that waits for the payer's address. */
function OpenClaim({ claim, onDone }: { claim: RefundClaimBody; onDone(): void }) {
  const { t, usdc, language } = useWords()
  const may = useMay('getRefundClaim')
  const read = useQuery({ queryKey: ['refund-claim', claim.id], queryFn: () => api.refundClaim(claim.id), enabled: may })
  return (
    <div>
      <p>{t.refunds.asked(usdc(claim.amount), dayOf(claim.expires_at, language))}</p>
      {read.data?.email && <p className="faint">{t.refunds.codeGoesTo(read.data.email)}</p>}
      {read.data?.url && <CopyValue value={read.data.url} label={t.refunds.link} />}
      <div className="buttons">
        {read.data?.url && (
          <Button component="a" href={read.data.url} target="_blank" rel="noreferrer" variant="light">
            {t.refunds.linkOpen}
          </Button>
        )}
        <Allowed to="cancelRefundClaim">
          <Confirmed
            action={t.refunds.endLink}
            question={t.refunds.endLinkSure}
            work={() => api.cancelRefundClaim(claim.id)}
            onDone={onDone}
          />
        </Allowed>
      </div>
    </div>
  )
}
