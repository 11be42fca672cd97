import type { EntryBody, ExportBody, List, SummaryBody, SummaryFigures } from '@ponte/contracts'
import { until } from '@ponte/service-kit'
import { Ofx } from 'ofx-data-extractor'
import Papa from 'papaparse'
import readWorkbook from 'read-excel-file/node'
import type { Orders } from './orders'
import type { Merchant } from './play'

const KINDS: Record<string, string> = {
  ...{ Pagamento: 'payment', 'Entrada sem cobrança': 'unmatched', 'Transferência direta': 'direct', 'Taxa da plataforma': 'fee' },
  ...{ 'Repasse ao endereço': 'settled', 'Diferença aceita': 'accepted', Devolução: 'returned' },
}

/** A row of a file, whatever its form, by the day of São Paulo. */
export interface Row {
  kind: string
  day: string
  units: bigint
}
/** A movement of a statement of an account, which is a payout address. */
export interface StatementRow {
  account: string
  day: string
  units: bigint
}

export const unitsOf = (amount: string): bigint => {
  const [whole = '0', fraction = ''] = amount.replace(',', '.').split('.')
  const units = BigInt(whole.replace('-', '')) * 1_000_000n + BigInt(fraction.padEnd(6, '0') || 0)
  return amount.startsWith('-') ? -units : units
}
const exact = (value: unknown) => unitsOf(Number(value).toFixed(6))
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const isoOf = (day: string) => day.slice(0, 10).split('/').toReversed().join('-')

/** Everything that shows the books of a merchant, each opened by a program that is not ours. */
export function viewsOf(service: Orders, { terms }: Merchant, dayOf: (at: number) => string) {
  const parsed = (csv: string) => {
    const { data, errors } = Papa.parse<Record<string, string>>(csv.replace('\ufeff', ''), { header: true, skipEmptyLines: true })
    if (errors.length > 0) throw new Error(`a CSV cannot be read: ${JSON.stringify(errors)}`)
    return data
  }
  const international = (csv: string): Row[] =>
    parsed(csv).map(({ kind = '', at = '', amount = '' }) => ({ kind, day: dayOf(Date.parse(at)), units: unitsOf(amount) }))
  const brazilian = (csv: string): Row[] =>
    parsed(csv).map(row => ({
      kind: KINDS[row.Movimento ?? ''] ?? `${row.Movimento}`,
      day: isoOf(row['Data (São Paulo)'] ?? ''),
      units: unitsOf(row.USDC ?? ''),
    }))
  const made = async (body: object): Promise<Uint8Array> => {
    const asked = await service.call<ExportBody>(terms, 'POST', '/exports', body)
    const look = () => service.call<ExportBody>(terms, 'GET', `/exports/${asked?.id}`)
    await until(async () => (await look())?.status === 'ready', 'the file was not made', 120_000)
    return service.bytes(terms, `/exports/${asked?.id}/file`)
  }
  const workbook = async (form: string, day: (at: Date) => string, heads: [kind: string, at: string, units: string]): Promise<Row[]> => {
    const [sheet] = await readWorkbook(Buffer.from(await made({ format: 'xlsx', form })))
    const [names = [], ...rows] = sheet?.data ?? []
    const [kind = 0, at = 0, amount = 0] = heads.map(head => names.indexOf(head))
    return rows.map(row => ({
      kind: KINDS[String(row[kind])] ?? String(row[kind]),
      day: day(row[at] as unknown as Date),
      units: exact(row[amount]),
    }))
  }
  return {
    /** All pages, or those of a range. */
    async entries(range: Record<string, string> = {}): Promise<EntryBody[]> {
      const found: EntryBody[] = []
      for (let after: string | null | undefined; after !== null; ) {
        const query = new URLSearchParams({ ...range, limit: '100', ...(after ? { after } : {}) })
        const page: (List<EntryBody> & { next_cursor: string | null }) | null = await service.call(terms, 'GET', `/entries?${query}`)
        found.push(...(page?.data ?? []))
        after = page?.has_more ? page.next_cursor : null
      }
      return found
    },
    async summary(query: { from: string; to: string; timezone: string; by: string }): Promise<SummaryBody> {
      const summary = await service.call<SummaryBody>(terms, 'GET', `/summary?${new URLSearchParams(query)}`)
      if (!summary) throw new Error('there is no summary')
      return summary
    },
    csv: async (range: Record<string, string>) =>
      brazilian(text(await service.bytes(terms, `/entries.csv?${new URLSearchParams({ ...range, form: 'brazilian' })}`))),
    files: {
      'CSV, international': async () => international(text(await made({ format: 'csv', form: 'international' }))),
      'CSV, Brazilian': async () => brazilian(text(await made({ format: 'csv', form: 'brazilian' }))),
      'JSON lines': async () =>
        text(await made({ format: 'jsonl' }))
          .trim()
          .split('\n')
          .map(line => JSON.parse(line))
          .map(({ kind, at, amount }: EntryBody): Row => ({ kind, day: dayOf(Date.parse(at)), units: unitsOf(amount) })),
      'XLSX, international': () => workbook('international', at => dayOf(Number(at)), ['kind', 'at', 'amount']),
      'XLSX, Brazilian': () =>
        workbook('brazilian', at => new Date(at).toISOString().slice(0, 10), ['Movimento', 'Data (São Paulo)', 'USDC']),
    },
    /** The parser reads files of one statement: each is handed to it in a file of its own. */
    async ofx(): Promise<StatementRow[]> {
      const [head = '', ...rest] = text(await made({ format: 'ofx' })).split('<STMTTRNRS>')
      return rest.flatMap(statement => {
        const one = `${head}<STMTTRNRS>${statement.split('</BANKMSGSRSV1>')[0]}</BANKMSGSRSV1>\r\n</OFX>\r\n`
        const { STMTTRNRS } = new Ofx(one).toJson().OFX.BANKMSGSRSV1
        const { BANKACCTFROM, BANKTRANLIST } = ([STMTTRNRS].flat()[0] as never as { STMTRS: Statement }).STMTRS
        return [BANKTRANLIST.STRTTRN ?? []].flat().map(({ DTPOSTED, TRNAMT }) => ({
          account: `${BANKACCTFROM.ACCTID}${BANKACCTFROM.BRANCHID}`,
          day: DTPOSTED.slice(0, 10),
          units: exact(TRNAMT),
        }))
      })
    },
    /** The file of orders, a row a payment. */
    async payments(): Promise<{ units: bigint; txHash: string }[]> {
      const rows = parsed(text(await service.bytes(terms, '/orders.csv?rows=payments')))
      return rows.map(({ amount = '', tx_hash = '' }) => ({ units: unitsOf(amount), txHash: tx_hash }))
    },
  }
}
interface Statement {
  BANKACCTFROM: { BRANCHID: string; ACCTID: string }
  /** As the parser calls them. */
  BANKTRANLIST: { STRTTRN?: { TRNAMT: string; DTPOSTED: string }[] }
}

const AMOUNTS = ['gross', 'platform_fee', 'settled', 'waiting', 'unmatched', 'returned', 'given_away'] as const
/** As the oracle has them. */
export const figuresIn = (seen: SummaryFigures) => {
  const centavos = BigInt(seen.brl_amount.replace('.', ''))
  const [gross, platform_fee, settled, waiting, unmatched, returned, given_away] = AMOUNTS.map(name => unitsOf(seen[name])) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  return { payments: seen.payments, brl_amount: centavos, gross, platform_fee, settled, waiting, unmatched, returned, given_away }
}
