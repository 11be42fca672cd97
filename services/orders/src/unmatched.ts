import { type Blocks, changesOf } from './payment/blocks'
import { type MismatchReason, UNITS_MAX } from './payment/mismatch'
import type { Report } from './payment/report'
import type { Unmatched } from './store'

/** Payments without an order as they are from now on. What is beyond the column that all amounts share is kept exactly beside it. */
export function unmatchedChanges(
  known: readonly Unmatched[],
  reports: readonly Report[],
  reasons: ReadonlyMap<string, MismatchReason>,
  stated: Blocks,
): Unmatched[] {
  const reported = new Map(reports.map(report => [report.payment.id, report]))
  // A payment that counts for an order now is taken from here with it.
  const kept = known.filter(({ id }) => reasons.has(id) || !reported.has(id))
  const incoming = reports.filter(({ payment }) => reasons.has(payment.id)).map(({ payment }) => payment)
  const rows = new Map(kept.map(row => [row.id, row]))
  return changesOf(kept, incoming, stated, { isWatched: true, through: null }).flatMap(payment => {
    const row = rows.get(payment.id)
    const report = reported.get(payment.id)
    const reason = reasons.get(payment.id) ?? row?.reason
    if (!report || !reason) return row ? [{ ...row, ...payment }] : []
    const isLarge = payment.grossUnits > UNITS_MAX
    const { grossUnits, ...target } = report.target
    return [
      {
        ...payment,
        ...target,
        memo: report.memo,
        reason,
        grossUnits: isLarge ? UNITS_MAX : grossUnits,
        exactUnits: isLarge ? grossUnits : null,
      },
    ]
  })
}
