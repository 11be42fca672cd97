import { z } from 'zod'
import { address, id, timestamp, usdcAmount } from '../fields'
import { unmatchedData } from '../webhook'
import { listOf, pageQuery } from './list'
import { order, orderException } from './order'

/** Query of `GET /api/v1/attention`. */
export const listAttention = z
  .strictObject(pageQuery)
  .refine(query => query.starting_after === undefined || query.ending_before === undefined, {
    path: ['ending_before'],
    message: 'send either starting_after or ending_before, not both',
  })
export type ListAttention = z.infer<typeof listAttention>

export const attentionReason = z.enum([...orderException.options, 'underpaid', 'settlement_blocked', 'unmatched'])
export type AttentionReason = z.infer<typeof attentionReason>

/** Money that does not simply settle: of an order, or to the merchant's payout address without an order. */
export const attentionItem = z
  .object({
    object: z.literal('attention_item'),
    id: id.meta({ description: 'That of the order, or one made of the payment' }),
    reasons: z.array(attentionReason).meta({ description: 'Why it is here' }),
    at: timestamp.meta({ description: 'When the order was created, or the unmatched payment made' }),
    gross: usdcAmount.meta({ description: 'What was confirmed, platform fee included' }),
    platform_fee: usdcAmount.nullable().meta({ description: 'What of it the platform keeps; null when that is not known' }),
    taken: usdcAmount.meta({ description: 'What of `gross` the order takes' }),
    left_over: usdcAmount.meta({ description: 'What of `gross` no order takes' }),
    payers: z.array(address).meta({ description: 'Who sent it, as far as that is known' }),
    order: order.nullable().meta({ description: 'With its payments' }),
    payment: unmatchedData.nullable().meta({ description: 'The payment that counts for no order' }),
  })
  .meta({ id: 'AttentionItem' })
export type AttentionItemBody = z.infer<typeof attentionItem>

export const attentionList = listOf(attentionItem)
