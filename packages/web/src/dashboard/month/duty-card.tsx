import type { EntryBody, SummaryFigures } from '@ponte/contracts'
import { formatBrl, formatUsdc, parseBrl } from '@ponte/contracts/money'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api/api'
import { Badge } from '../elements/badge'
import { Card } from '../elements/card'
import { Facts } from '../elements/facts'
import { Failure } from '../elements/states'
import { useWords } from '../texts/words'
import { type Duty, dutyOf, instantsOf } from './months'
import { possibleOf, standingOf } from './possible'

const PAGE = '100'
/** A stranger may send dust as often as they like. */
const PAGES_MAX = 10

/** The plain transfers of a month, and whether there are more than are read here. */
async function plainTransfers(month: string): Promise<{ transfers: EntryBody[]; isCut: boolean }> {
  const transfers: EntryBody[] = []
  let after: string | undefined
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await api.entries({ ...instantsOf(month), kind: 'direct', limit: PAGE, after })
    transfers.push(...page.data)
    if (!page.has_more) return { transfers, isCut: false }
    after = page.next_cursor
  }
  return { transfers, isCut: true }
}

/** The month's sum beside the merchant's own duty to report, with its orders alone and with what may have been sales. */
export function DutyCard({ month, total }: { month: string; total: SummaryFigures }) {
  const duty = dutyOf(month)
  return duty ? <MonthsDuty month={month} total={total} duty={duty} /> : null
}

function MonthsDuty({ month, total, duty }: { month: string; total: SummaryFigures; duty: Duty }) {
  const { t, brl, usdc } = useWords()
  const found = useQuery({ queryKey: ['plain transfers', month], queryFn: () => plainTransfers(month) })
  const ofOrders = total.brl_amount.startsWith('-') ? -parseBrl(total.brl_amount.slice(1)) : parseBrl(total.brl_amount)
  const possible = possibleOf(found.data?.transfers ?? [])
  const standing = standingOf(ofOrders, possible.centavos, duty.limitCentavos)
  const limit = brl(formatBrl(duty.limitCentavos))
  const share = (((ofOrders < 0n ? 0n : ofOrders) * 100n) / duty.limitCentavos).toString()
  return (
    <Card title={t.month.duty}>
      <p className={standing === 'below' ? '' : 'above'}>
        {{ above: t.month.above(limit), possibly: t.month.possiblyAbove(limit), below: t.month.below(limit, share) }[standing]}
      </p>
      {possible.valued !== 0 && (
        <Facts
          rows={[
            [
              t.month.ofOrders,
              <>
                {brl(total.brl_amount)} {standing === 'above' && <Badge tone="warn">{t.month.aboveLimit}</Badge>}
              </>,
            ],
            [
              t.month.plainTransfers(possible.valued),
              <>
                {brl(formatBrl(possible.centavos))} <Badge tone="calm">{t.month.possible}</Badge>
              </>,
            ],
            [t.month.together, brl(formatBrl(ofOrders + possible.centavos))],
          ]}
        />
      )}
      {possible.unvalued > 0 && <p>{t.month.withoutValue(possible.unvalued, usdc(formatUsdc(possible.unvaluedUnits)))}</p>}
      {found.data?.isCut && <p className="above">{t.month.transfersCut(found.data.transfers.length)}</p>}
      {found.error && <Failure error={found.error} onRetry={() => void found.refetch()} />}
      <p>{t.month.leftOut(usdc(total.unmatched))}</p>
      <p className="faint">
        {t.month.noAdvice} <a href={duty.url}>{duty.source}</a> ({t.month.read(duty.read)})
      </p>
    </Card>
  )
}
