import type { RefundBody } from '@ponte/contracts'

/** The part of a member in a refund that waits for its signature, and what it still needs. */
export interface Part {
  mayApprove: boolean
  maySign: boolean
  need: 'needsYou' | 'needsAnother' | 'needsTwo' | null
}

/** By the rule of orders: above the limit two different members take part, and a key is none. */
export function partIn(
  { needs_approval: needs = false, requested_by: asked, approved_by: approver = null }: RefundBody,
  me: string | null,
): Part {
  if (!needs) return { mayApprove: false, maySign: true, need: null }
  const took = [asked, approver].filter(member => member !== null)
  if (took.length === 0) return { mayApprove: true, maySign: false, need: 'needsTwo' }
  if (took.includes(me ?? '')) return { mayApprove: false, maySign: false, need: 'needsAnother' }
  return { mayApprove: approver === null, maySign: true, need: 'needsYou' }
}
