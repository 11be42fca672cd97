import { createHash } from 'node:crypto'
import { millis, type Row, text, units } from './rows'

export interface RateBooks {
  marketRates: readonly Row[]
  ptaxRates: readonly Row[]
  /** Rates that the central bank's source answers for their days, in micro-BRL; undefined where it was not asked, or did not answer. */
  published: ReadonlyMap<string, bigint> | undefined
}

const HALF_DAY_MS = 43_200_000
const ANSWER_MS = 30_000

/** A driver has a date as the midnight of wherever it runs. */
export const dayOf = ({ day }: Row): string => new Date(millis(day) + HALF_DAY_MS).toISOString().slice(0, 10)
const sealOf = (moment: string, rate: unknown) => createHash('sha256').update(`${moment} ${rate}`).digest('hex')

/** Rates have the hash that they had when they were written, and PTAX is what the central bank still publishes for its day. */
export function rateDifferences({ marketRates, ptaxRates, published }: RateBooks): string[] {
  const sealed = (about: string, row: Row, moment: string) =>
    row.seal === sealOf(moment, row.rate_micros)
      ? []
      : [`rates: ${about} of ${moment} is ${row.rate_micros}, and was not when it was written`]
  const kept = new Set(ptaxRates.map(dayOf))
  return [
    ...[...(published?.keys() ?? [])].filter(day => !kept.has(day)).map(day => `rates: PTAX of ${day} is published, and is not kept`),
    ...marketRates.flatMap(row => sealed('the market rate', row, String(millis(row.at)))),
    ...ptaxRates.flatMap(row => [
      ...sealed('PTAX', row, dayOf(row)),
      ...(published === undefined || published.get(dayOf(row)) === units(row.rate_micros)
        ? []
        : [`rates: PTAX of ${dayOf(row)} is ${row.rate_micros}, and ${text(published.get(dayOf(row))) ?? 'none'} is published`]),
    ]),
  ]
}

/** The closing rates of these days, from the central bank's source. */
export async function askPublished(base: string, ptaxRates: readonly Row[]): Promise<Map<string, bigint>> {
  const days = ptaxRates.map(dayOf).sort()
  const american = (day = '') => day.replace(/^(\d{4})-(\d{2})-(\d{2})$/, "'$2-$3-$1'")
  const query = new URLSearchParams({
    '@dataInicial': american(days[0]),
    '@dataFinalCotacao': american(days.at(-1)),
    $format: 'json',
    $select: 'cotacaoVenda,dataHoraCotacao',
  })
  if (days.length === 0) return new Map()
  const path = 'CotacaoDolarPeriodo(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao)'
  const response = await fetch(`${base.replace(/\/$/, '')}/${path}?${query}`, { signal: AbortSignal.timeout(ANSWER_MS) })
  if (!response.ok) throw new Error(`PTAX: ${base} answered ${response.status}`)
  const { value } = (await response.json()) as { value: { cotacaoVenda: number; dataHoraCotacao: string }[] }
  return new Map(value.map(({ cotacaoVenda, dataHoraCotacao }) => [dataHoraCotacao.slice(0, 10), BigInt(Math.round(cotacaoVenda * 1e6))]))
}
