import { ApiError, formatUsdc } from '@ponte/contracts'
import { awaitsSignature, type StoredRefund } from './stored-refund'

/** The refunds of an order are judged together, so that two halves of it do not pass below the limit. */
export interface RefundLimit {
  /** The sum that has gone back and still may, with the refund that is judged. */
  promisedUnits: bigint
  /** Null for never. */
  aboveUnits: bigint | null
  /** Users who are members now; undefined from a gateway of the release before. */
  members?: readonly string[] | undefined
}

type Participants = Pick<StoredRefund, 'requestedBy' | 'approvedBy'>

const isAbove = ({ promisedUnits, aboveUnits }: RefundLimit): boolean => aboveUnits !== null && promisedUnits > aboveUnits

/** A key is no person: it stands as null, and so does who has left. */
const present = (member: string | null, members: RefundLimit['members']): string | null =>
  member !== null && (members === undefined || members.includes(member)) ? member : null
const areTwo = (members: RefundLimit['members'], ...named: (string | null)[]): boolean =>
  new Set(named.map(member => present(member, members)).filter(member => member !== null)).size > 1

/** Whether it waits for its signature, and another member still has to take part. */
export const needsApproval = (refund: StoredRefund, limit: RefundLimit): boolean =>
  awaitsSignature(refund) && isAbove(limit) && !areTwo(limit.members, refund.requestedBy, refund.approvedBy)

/** Throws `invalid_state` where a signature needs a second member. `bringer` is null for a key. */
export function requireTwoMembers({ requestedBy, approvedBy }: Participants, bringer: string | null, limit: RefundLimit): void {
  if (!isAbove(limit) || areTwo(limit.members, requestedBy, approvedBy, bringer)) return
  throw new ApiError(
    'invalid_state',
    `The refunds of an order that together are above ${formatUsdc(limit.aboveUnits ?? 0n)} USDC take two members: have another one approve this one, or bring its signature.`,
  )
}

/** Takes a member's approval, the first one for good while that member belongs to the merchant. Throws `invalid_state` for who asked for the refund, and where it waits for no signature. */
export function approve(refund: StoredRefund, by: string, at: Date, members?: RefundLimit['members']): StoredRefund {
  if (refund.approvedBy === by) return refund
  if (refund.requestedBy === by)
    throw new ApiError('invalid_state', 'You asked for this refund: another member has to approve it, or bring its signature.')
  if (!awaitsSignature(refund))
    throw new ApiError('invalid_state', 'The refund waits for no signature: it is signed, has gone back, or is cancelled.')
  if (present(refund.approvedBy, members) !== null) throw new ApiError('invalid_state', 'Another member has approved this refund already.')
  return { ...refund, approvedBy: by, approvedAt: at }
}
