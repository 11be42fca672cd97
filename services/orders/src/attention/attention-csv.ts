import type { AttentionItemBody } from '@ponte/contracts'
import { type CsvColumn, fieldColumns } from '@ponte/service-kit'

function hashesOf({ order, payment, foreign_token: foreign }: AttentionItemBody): string[] {
  const [one] = [payment, foreign].flatMap(sent => sent?.tx_hash ?? [])
  return one === undefined ? (order?.payments ?? []).filter(({ status }) => status === 'confirmed').map(({ tx_hash }) => tx_hash) : [one]
}

/** `gross` is what came, `taken` what of it the order takes, `left_over` the difference, less what has gone back. */
export const attentionColumns: readonly CsvColumn<AttentionItemBody>[] = [
  ...fieldColumns(['id', 'at', 'reasons']),
  ['order_id', ({ order }) => order?.id ?? null],
  ['status', ({ order }) => order?.status ?? null],
  ['external_ref', ({ order }) => order?.external_ref ?? null],
  ['description', ({ order }) => order?.description ?? null],
  ['brl_amount', ({ order }) => order?.brl_amount ?? null],
  ['usdc_amount', ({ order }) => order?.usdc_amount ?? null],
  ...fieldColumns(['gross', 'platform_fee', 'taken', 'left_over', 'payers']),
  ['tx_hashes', item => hashesOf(item).join(' ')],
  ...fieldColumns(['handled_at', 'handled_by', 'handled_note']),
]
