import type { RefundBody } from '@ponte/contracts'
import { partIn } from './part'

const refund = (requested_by: string | null, approved_by: string | null, needs_approval = true) =>
  ({ requested_by, approved_by, needs_approval }) as RefundBody

it.each([
  ['below the limit', refund('ana', null, false), 'ana', false, true, null],
  ['who asked', refund('ana', null), 'ana', false, false, 'needsAnother'],
  ['another member', refund('ana', null), 'bia', true, true, 'needsYou'],
  ['any member, of what a key asked for', refund(null, null), 'ana', true, false, 'needsTwo'],
  ['who approved what a key asked for', refund(null, 'ana'), 'ana', false, false, 'needsAnother'],
  ['another member, of what a key asked for and one approved', refund(null, 'ana'), 'bia', false, true, 'needsYou'],
] as const)('%s', (_, of, me, mayApprove, maySign, need) => {
  expect(partIn(of, me)).toEqual({ mayApprove, maySign, need })
})

it('an orders of the release before names no need', () => {
  expect(partIn({ requested_by: 'ana' } as RefundBody, 'ana').maySign).toBe(true)
})
