import { z } from 'zod'
import { address, id, text, timestamp, usdcAmount } from '../fields'
import { unmatchedData } from '../webhook'
import { isOneWay, listOf, notOneWay, pageQuery } from './list'
import { chainIdInQuery } from './network'
import { order, orderException } from './order'
import { QUOTATION_LENGTH_MAX } from './order-list'
import { foreignToken } from './recovery'

export const attentionReason = z.enum([...orderException.options, 'underpaid', 'settlement_blocked', 'unmatched', 'foreign_token'])
export type AttentionReason = z.infer<typeof attentionReason>

const filters = {
  reason: attentionReason.optional().meta({ description: 'What is here for this reason, alone or among others' }),
  handled: z.enum(['true', 'false']).optional().meta({ description: '`true`: what was marked as handled; otherwise what was not' }),
  chain_id: chainIdInQuery.optional().meta({ description: 'What came on this network, lies there, or cannot be moved on there' }),
  text: text(QUOTATION_LENGTH_MAX).optional().meta({
    description:
      'Money without an order alone, marked or not, as a message quotes it: its transaction or the link to it, memo, payer or amount in USDC',
  }),
}

export const listAttention = z.strictObject({ ...pageQuery, ...filters }).refine(isOneWay, notOneWay)
export type ListAttention = z.infer<typeof listAttention>

export const exportAttention = z.strictObject(filters)

/** Acts about it beside marking it as handled: `POST /orders/:id/accept`, `POST /attention/:id/attach`, `POST /orders/:id/recoveries`. */
export const attentionAction = z.enum(['accept', 'attach', 'recover'])
export type AttentionAction = z.infer<typeof attentionAction>

/** Money that does not simply settle: of an order, to the merchant's payout address without an order, or of a token that no order takes. */
export const attentionItem = z
  .object({
    object: z.literal('attention_item'),
    id: id.meta({ description: 'That of the order, or one made of the payment, or that of the foreign token' }),
    reasons: z.array(attentionReason).meta({ description: 'Why it is here' }),
    at: timestamp.meta({ description: 'When the order was created, the unmatched payment made, or the foreign token found' }),
    gross: usdcAmount.meta({ description: 'What was confirmed, platform fee included' }),
    platform_fee: usdcAmount.nullable().meta({ description: 'What of it the platform keeps; null when that is not known' }),
    taken: usdcAmount.meta({ description: 'What of `gross` the order takes' }),
    left_over: usdcAmount.meta({ description: 'What of `gross` no order takes, less what has gone back' }),
    payers: z.array(address).meta({ description: 'Who sent it, as far as that is known' }),
    order: order.nullable().meta({ description: 'With its payments' }),
    payment: unmatchedData.nullable().meta({ description: 'The payment that counts for no order' }),
    foreign_token: foreignToken.nullable().optional().meta({
      description: 'Something else than USDC that lies at the deposit address of the order, with the reason `foreign_token`; no sum has it',
    }),
    actions: z.array(attentionAction).optional().meta({
      description:
        '`accept`: what came can be accepted as payment in full (`POST /orders/{id}/accept`); `attach`: it can be counted for an order (`POST /attention/{id}/attach`); `recover`: it can be sent on to the payout address (`POST /orders/{id}/recoveries`)',
    }),
    facts: z
      .string()
      .optional()
      .meta({ description: 'Names what is known of it now; send it back to mark it as handled', example: 'c0ffee00c0ffee00' }),
    handled_at: timestamp.nullable().optional().meta({ description: 'When it was marked as handled; a new fact brings it back' }),
    handled_by: z.string().nullable().optional().meta({ description: '`sub` of the user who marked it; null for a key' }),
    handled_note: z.string().nullable().optional().meta({ description: 'The note of the mark' }),
  })
  .meta({ id: 'AttentionItem' })
export type AttentionItemBody = z.infer<typeof attentionItem>

/** Body of `POST /api/v1/attention/:id/handle`. What has other facts by now is not marked, since its merchant has not seen them. */
export const handleAttention = z.strictObject({
  facts: z.string().max(64).meta({ description: '`facts` of the item as it was seen' }),
  note: text(500).optional().meta({ description: 'What was done about it, for your own records' }),
})
export type HandleAttention = z.infer<typeof handleAttention>

export const attachPayment = z.strictObject({
  order_id: id.meta({ description: 'The order for which it counts from now on' }),
  reason: text(500).meta({
    description: 'Why it belongs to that order, for your own records',
    example: 'The customer typed the memo wrong',
  }),
})
export type AttachPayment = z.infer<typeof attachPayment>

export const attentionList = listOf(attentionItem)
