import { z } from 'zod'
import { parseExactly, rateMicros } from './http-rate'

/** The central bank's closing rate of one civil day, in micro-BRL per dollar: what it sells a dollar for. */
export interface PtaxRate {
  /** `2026-11-27` */
  day: string
  rateMicros: bigint
}

const answer = z.object({
  value: z.array(z.object({ cotacaoVenda: z.string(), dataHoraCotacao: z.string().regex(/^\d{4}-\d{2}-\d{2} /) })),
})

/** The central bank's OData function: days as `MM-DD-YYYY` in quotes. */
export function ptaxAddress(base: string, from: string, to: string): string {
  const [first, last] = [from, to].map(day => day.replace(/^(\d{4})-(\d{2})-(\d{2})$/, '%27$2-$3-$1%27'))
  const query = `@dataInicial=${first}&@dataFinalCotacao=${last}&$format=json&$select=cotacaoVenda,dataHoraCotacao`
  return `${base.replace(/\/$/, '')}/CotacaoDolarPeriodo(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao)?${query}`
}

/** The days that are asked for, and between which micro-BRL per dollar a rate is one. */
export interface PtaxRange {
  from: string
  to: string
  minMicros: bigint
  maxMicros: bigint
}

/** Throws on what is no answer of that function, or no answer to that question. */
export function ptaxRates(json: string, { from, to, minMicros, maxMicros }: PtaxRange): PtaxRate[] {
  const rates = answer.parse(parseExactly(json)).value.map(({ cotacaoVenda, dataHoraCotacao }) => ({
    day: dataHoraCotacao.slice(0, 10),
    rateMicros: rateMicros(cotacaoVenda, false),
  }))
  const wrong = rates.find(rate => rate.day < from || rate.day > to || rate.rateMicros < minMicros || rate.rateMicros > maxMicros)
  if (wrong) throw new Error(`PTAX from ${from} to ${to} has ${wrong.rateMicros} micro-BRL on ${wrong.day}, which it cannot have.`)
  return rates
}
