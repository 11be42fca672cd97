import { civilDay, differences, type Figures, figuresOf, ledgersOf, type Movement, sums, text } from './oracle'
import type { Orders } from './orders'
import { type Merchant, PLATFORM, type Played } from './play'
import { figuresIn, unitsOf, viewsOf } from './views'

export const BOOKS_ZONE = 'America/Sao_Paulo'
const DAY = 86_400_000
/** The second one sets its clocks forward and back by an hour, the third one by half of one. */
const ZONES = [BOOKS_ZONE, 'America/New_York', 'Australia/Lord_Howe']
/** Days of a summary at most. */
const MOST = { day: 92, week: 92 * 7, month: 92 * 28 }

const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
const next = (day: string) => dateOf(Date.parse(day) + DAY)
const monthAfter = (month: string) => dateOf(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)))).slice(0, 7)
const dayOf = civilDay(BOOKS_ZONE)

/** The first day of the period that a day is in, of a range. */
function periodOf(day: string, by: keyof typeof MOST, from: string): string {
  const monday = dateOf(Date.parse(day) - ((new Date(day).getUTCDay() + 6) % 7) * DAY)
  const start = { day, week: monday, month: `${day.slice(0, 7)}-01` }[by]
  return start < from ? from : start
}

const figuresBy = (movements: readonly Movement[], nameOf: (movement: Movement) => string): Map<string, Figures> =>
  new Map([...Map.groupBy(movements, nameOf)].map(([name, rows]) => [name, figuresOf(rows)]))
const ZERO = text(figuresOf([]))
const shown = (figures: ReadonlyMap<string, Figures>) =>
  new Map([...figures].map(([name, each]) => [name, text(each)] as const).filter(([, each]) => each !== ZERO))
const perDay = (movements: readonly Movement[]) => sums(movements, ({ kind, at }) => `${kind} on ${dayOf(at)}`)

interface Books {
  merchant: Merchant
  must: Movement[]
  views: ReturnType<typeof viewsOf>
  /** When the first and the last movement count. */
  first: number
  last: number
}

/** Holds a view of each merchant's books against the chain; empty where both are equal. */
export type Judge = (service: Orders, played: Played, zone?: string) => Promise<string[]>

/** Differences of every merchant, each beginning with their name. */
const ofEach =
  (
    judge: (
      books: Books,
      compare: (what: string, seen: ReadonlyMap<string, string>, must: ReadonlyMap<string, string>) => void,
      zone: string,
    ) => Promise<void>,
  ): Judge =>
  async (service, { steps, merchants }, zone = BOOKS_ZONE) => {
    const ledger = ledgersOf(steps, PLATFORM)
    const found: string[] = []
    for (const merchant of merchants) {
      const must = ledger.filter(each => each.merchant === merchant.terms.merchant_id)
      const times = must.map(({ at }) => at).sort((a, b) => a - b)
      const books = { merchant, must, views: viewsOf(service, merchant, dayOf), first: times[0] ?? 0, last: times.at(-1) ?? 0 }
      const compare = (what: string, seen: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>) =>
        void found.push(...differences(`${merchant.terms.display_name}, ${what}`, seen, expected))
      await judge(books, compare, zone)
    }
    return found
  }

/** The list: each movement, and what reached each payout address in each month. */
export const judgeEntries = ofEach(async ({ views, must }, compare) => {
  const entries = (await views.entries()).map(entry => ({ ...entry, units: unitsOf(entry.amount) }))
  compare(
    'entries',
    sums(entries, ({ kind, tx_hash, at }) => `${kind} of ${tx_hash} at ${at}`),
    sums(must, ({ kind, txHash, at }) => `${kind} of ${txHash} at ${new Date(at).toISOString()}`),
  )
  compare(
    'payout addresses',
    sums(
      entries.filter(({ kind }) => kind === 'settled' || kind === 'direct'),
      ({ kind, address, at }) => `${kind} to ${address?.toLowerCase()} in ${dayOf(Date.parse(at)).slice(0, 7)}`,
    ),
    sums(
      must.filter(({ kind }) => kind === 'settled' || kind === 'direct'),
      ({ kind, payout, at }) => `${kind} to ${payout} in ${dayOf(at).slice(0, 7)}`,
    ),
  )
  const numbers = (count: number, of: (index: number) => number) =>
    new Map(Array.from({ length: count }, (_, index) => [`number ${index + 1}`, String(of(index))]))
  compare(
    'sequence',
    numbers(entries.length, index => entries[index]?.sequence ?? 0),
    numbers(must.length, index => index + 1),
  )
})

/** Sums by day, week and month, of which the overview is one, with what was before and after. `zone` is that by which São Paulo is read. */
export const judgeSummaries = ofEach(async ({ views, must, first, last }, compare, zone) => {
  for (const timezone of ZONES)
    for (const by of ['day', 'week', 'month'] as const) {
      const day = civilDay(timezone)
      const dated = must.map(movement => ({ movement, date: day(movement.at) }))
      for (let from = day(first); from <= day(last); ) {
        const start = from
        const [to = start] = [dateOf(Date.parse(start) + (MOST[by] - 1) * DAY), day(last)].sort()
        const summary = await views.summary({ from, to, timezone: timezone === BOOKS_ZONE ? zone : timezone, by })
        const within = dated.filter(({ date }) => date >= start && date <= to).map(({ movement }) => movement)
        const before = dated.filter(({ date }) => date < start).map(({ movement }) => movement)
        const what = `by ${by} in ${timezone} from ${start} to ${to}`
        const seen = new Map(summary.periods.map(({ date, ...figures }) => [date, figuresIn(figures)]))
        compare(`summary ${what}`, shown(seen), shown(figuresBy(within, ({ at }) => periodOf(day(at), by, start))))
        const whole = { opening: before, total: within, closing: [...before, ...within] }
        compare(
          `sums ${what}`,
          new Map((['opening', 'total', 'closing'] as const).map(name => [name, text(figuresIn(summary[name]))])),
          new Map(Object.entries(whole).map(([name, rows]) => [name, text(figuresOf(rows))])),
        )
        from = next(to)
      }
    }
})

/** The month page: the sums of its days, its movements and the file beside them. */
export const judgeMonths = ofEach(async ({ views, must, first, last }, compare, zone) => {
  const months = Map.groupBy(must, ({ at }) => dayOf(at).slice(0, 7))
  for (let month = dayOf(first).slice(0, 7); month <= dayOf(last).slice(0, 7); month = monthAfter(month)) {
    const expected = months.get(month) ?? []
    const days = { from: `${month}-01`, to: dateOf(Date.parse(`${monthAfter(month)}-01`) - DAY) }
    const page = await views.summary({ ...days, timezone: zone, by: 'day' })
    compare(`page of ${month}`, new Map([['total', text(figuresIn(page.total))]]), new Map([['total', text(figuresOf(expected))]]))
    const range = { at_gte: `${month}-01T03:00:00.000Z`, at_lt: `${monthAfter(month)}-01T03:00:00.000Z` }
    const rows = (await views.entries(range)).map(entry => ({ ...entry, units: unitsOf(entry.amount) }))
    compare(
      `movements of ${month}`,
      sums(rows, ({ kind, at }) => `${kind} on ${dayOf(Date.parse(at))}`),
      perDay(expected),
    )
    compare(
      `file of ${month}`,
      sums(await views.csv(range), ({ kind, day }) => `${kind} on ${day}`),
      perDay(expected),
    )
  }
})

export const judgeFiles = ofEach(async ({ views, must }, compare) => {
  for (const [file, read] of Object.entries(views.files)) {
    const rows = await read()
    compare(
      file,
      sums(rows, ({ kind, day }) => `${kind} on ${day}`),
      perDay(must),
    )
    compare(file, new Map([['rows', String(rows.length)]]), new Map([['rows', String(must.length)]]))
  }
  const moved = must.filter(({ payout }) => payout !== null).map(one => (one.kind === 'returned' ? { ...one, units: -one.units } : one))
  compare(
    'OFX',
    sums(await views.ofx(), ({ account, day }) => `${account} on ${day}`),
    sums(moved, ({ payout, at }) => `${payout} on ${dayOf(at)}`),
  )
  compare(
    'file of payments',
    sums(await views.payments(), ({ txHash }) => txHash),
    sums(
      must.filter(({ kind }) => kind === 'payment'),
      ({ txHash }) => txHash,
    ),
  )
})
