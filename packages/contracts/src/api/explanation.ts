import { z } from 'zod'
import { address, id, txHash, usdcAmount } from '../fields'

const QUOTED = /^(?:https?:\/\/\S+\/)?(?:0x)?([0-9a-fA-F]{64})(?:[/?#]\S*)?$/

/** A hash as people have it: with or without 0x, or the link of a block explorer. */
export const quotedTxHash = z
  .string()
  .max(500, 'must have at most 500 characters')
  .trim()
  .regex(QUOTED, 'must be a transaction hash of 64 hex characters, such as a block explorer shows it, or its link there')
  .transform(text => `0x${QUOTED.exec(text)?.[1]?.toLowerCase()}`)
  .meta({ description: 'With or without 0x, or the link of a block explorer to it', example: `0x${'5b'.repeat(32)}` })

export const explainTransaction = z.strictObject({ tx_hash: quotedTxHash })

export const explanationCode = z
  .enum([
    ...(['settled', 'short', 'late', 'unconfirmed', 'reverted', 'not_found'] as const),
    ...(['other_order', 'unknown_memo', 'wrong_token', 'wrong_recipient', 'wrong_network'] as const),
  ])
  .meta({
    description:
      '`settled`: the order is paid, and it was a part of that. `short`: it counts, and the order lacks `short_by`. `late`: it came after the order expired or was ' +
      'cancelled. `unconfirmed`: it pays the order once it has all `confirmations`. `reverted`: it failed and moved nothing. `not_found`: no node of the network ' +
      'has it. `other_order`: it paid another order. `unknown_memo`: it paid the merchant with the memo of no order, who can count it for this one. `wrong_token`: it sent something else than USDC to the deposit address. `wrong_recipient`: it sent nothing ' +
      "to where the order is paid. `wrong_network`: it is of another network than the order's.",
  })
export type ExplanationCode = z.infer<typeof explanationCode>

export const explanation = z
  .object({
    object: z.literal('explanation'),
    order_id: id,
    tx_hash: txHash,
    code: explanationCode,
    detail: z
      .string()
      .meta({ description: 'One sentence', example: 'It has 2 of 12 confirmations; the order is paid once it has them all.' }),
    amount: usdcAmount.nullable().meta({ description: 'What of it was sent for the order, or to `recipient_address`, USDC' }),
    confirmations: z.object({ seen: z.int(), required: z.int() }).nullable().meta({ description: 'While it is `unconfirmed`' }),
    short_by: usdcAmount.nullable().meta({ description: 'What of `usdc_amount` is not confirmed, where it is `short`' }),
    token_address: address
      .nullable()
      .meta({ description: "What it sent where that is the `wrong_token`; null for the network's own coin" }),
    recipient_address: address.nullable().meta({ description: 'Where its USDC went, where that is one `wrong_recipient`' }),
    other_order_id: id.nullable().meta({ description: 'The `other_order` where it is yours; always null for a payer' }),
    network: z.string().optional().meta({ description: 'Where it was found; only where several networks are followed' }),
    chain_id: z.int().optional().meta({ description: 'Only where several networks are followed' }),
  })
  .meta({ id: 'Explanation' })
export type ExplanationBody = z.infer<typeof explanation>
