import { z } from 'zod'
import { address, id, timestamp } from '../../fields'
import { role } from './member'

/** A change of a merchant's owners, or of where it is paid, that waits, so that it can be cancelled. */
export const waitingChange = z
  .object({
    object: z.literal('waiting_change'),
    id,
    type: z.enum(['member', 'payout_address']),
    merchant_id: id,
    display_name: z.string(),
    member_id: id.nullable().meta({ description: 'Whose role changes; null for a payout address' }),
    email: z.string().nullable().meta({ description: 'Of that member' }),
    role: role.nullable().meta({ description: 'Which they get; null when they are removed' }),
    payout_address: address.nullable().meta({ description: 'The new one; null for a member' }),
    chain_id: z.int().optional().meta({ description: 'The network that a payout address is for, where it is for one alone' }),
    requested_by: z.string().meta({ description: '`sub` of the user' }),
    requested_at: timestamp,
    activates_at: timestamp.meta({ description: 'It is in force from then on; it waits on while Ponte has frozen the account' }),
    objected_at: timestamp
      .nullable()
      .meta({ description: 'The owner whom it puts out objected: unless another owner confirms it, it ends without effect' }),
    confirmed_by: z
      .string()
      .nullable()
      .meta({ description: '`sub` of the other owner who confirmed it: who is put out by it cannot cancel it alone' }),
    may_cancel: z.boolean().meta({ description: 'You were an owner when it was requested' }),
    may_confirm: z.boolean().meta({ description: 'You are a third owner beside who requested it and whom it puts out' }),
  })
  .meta({ id: 'WaitingChange' })
export type WaitingChangeBody = z.infer<typeof waitingChange>
