import { createRefund, createRefundClaim, signRefund } from '../api/refund'
import { byEither, bySession, ends, owned } from './operation'

const reads = { owner: 'orders', permission: 'orders:read', tag: 'Refunds', judgesMembers: true } as const
const writes = { owner: 'orders', permission: 'refunds:write', tag: 'Refunds', judgesMembers: true } as const

export const refunds = {
  createRefund: byEither('post', '/orders/:id/refunds', {
    ...{ ...writes, ...ends, alias: 'createMyRefund', audit: 'refund.create', creates: 'getRefund', summary: 'Return money of an order' },
    description:
      'Of an order that is paid, expired or cancelled: an amount, the surplus, or all that may still go back. All refunds of an order together return no more ' +
      'than came for it. The money leaves your own wallet, by a signature of it: sign `typed_data` and send it to `POST /refunds/{id}/signature`. The payee ' +
      'has to be named unless the payer signed the payment: the sender of a plain transfer may be an exchange, where money that comes back is lost.',
    body: createRefund,
    example: { amount: '5.00', payee_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', reason: 'The customer sent it back' },
    answers: { 201: 'Refund' },
    errors: [...owned, 'invalid_state'],
  }),
  listRefunds: byEither('get', '/orders/:id/refunds', {
    ...{ ...reads, alias: 'listMyRefunds', summary: 'List the refunds of an order', answers: { 200: 'RefundList' }, errors: owned },
    description: 'With what came, what the platform took of it, and what may still go back.',
  }),
  getRefund: byEither('get', '/refunds/:id', {
    ...{
      ...reads,
      alias: 'getMyRefund',
      summary: 'Get a refund with what your wallet has to sign',
      answers: { 200: 'Refund' },
      errors: owned,
    },
  }),
  signRefund: byEither('post', '/refunds/:id/signature', {
    ...{ ...writes, login: 'fresh', alias: 'signMyRefund', audit: 'refund.sign', summary: 'Bring the signature of your wallet' },
    description:
      'From then on the money may move at any moment: nothing about the refund changes until the confirmed chain has passed `valid_before`, or shows that your ' +
      'wallet cancelled the authorization (`cancelAuthorization`). We submit it to the token (`transferWithAuthorization`), and pay for the gas; anyone else may, and ' +
      'it is taken once. Above the limit of your merchant (`refund_approval_above`) two different members have to take part: while `needs_approval` is true, ' +
      'another one approves it, or brings the signature by a session.',
    body: signRefund,
    example: { valid_before: 1_795_000_000, signature: `0x${'1b'.repeat(65)}` },
    answers: { 200: 'Refund' },
    errors: [...owned, 'invalid_state'],
  }),
  approveRefund: bySession('post', '/refunds/:id/approve', {
    ...{ ...writes, ...ends, audit: 'refund.approve', summary: 'Approve a refund that another member asked for' },
    description:
      'Of a refund that waits for its signature, with its payee and its amount. Who asked for it cannot; the first approval stands. A key is no member, so it approves nothing.',
    answers: { 200: 'Refund' },
    errors: [...owned, 'invalid_state'],
  }),
  cancelRefund: byEither('post', '/refunds/:id/cancel', {
    ...{ ...writes, alias: 'cancelMyRefund', audit: 'refund.cancel', summary: 'Cancel a refund' },
    description: '409 while what was signed may still move the money, and once it has gone back.',
    answers: { 200: 'Refund' },
    errors: [...owned, 'invalid_state'],
  }),
  createRefundClaim: byEither('post', '/orders/:id/refund-claims', {
    ...{ ...writes, ...ends, alias: 'createMyRefundClaim', audit: 'refund_claim.create', creates: 'getRefundClaim' },
    summary: 'Ask the payer where money goes back to',
    needsMail: 'email',
    description:
      'For a payer whose address nothing proves: they open `url`, name their payment and an address of their own, and a refund to it then waits for your ' +
      'signature. Send the link to the payer alone. With `email` they also need a code that is mailed there, so that a link in other hands is of no use. An order ' +
      'has one that is open.',
    body: createRefundClaim,
    example: { surplus: true, reason: 'Paid twice' },
    answers: { 201: 'RefundClaim' },
    errors: [...owned, 'invalid_state'],
  }),
  getRefundClaim: byEither('get', '/refund-claims/:id', {
    ...{
      ...reads,
      permission: 'refunds:write',
      alias: 'getMyRefundClaim',
      summary: 'Get the link of a claim',
      answers: { 200: 'RefundClaim' },
    },
    errors: owned,
  }),
  cancelRefundClaim: byEither('post', '/refund-claims/:id/cancel', {
    ...{ ...writes, alias: 'cancelMyRefundClaim', audit: 'refund_claim.cancel', summary: 'End the link of a claim' },
    description: '409 once the payer has named an address: cancel its refund.',
    answers: { 200: 'RefundClaim' },
    errors: [...owned, 'invalid_state'],
  }),
}
