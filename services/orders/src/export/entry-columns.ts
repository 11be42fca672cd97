import { type EntryBody, type EntryKind, type FileForm, type FiscalKind, groupedFiscalKey } from '@ponte/contracts'

export interface EntryColumn {
  head: string
  /** The kind of value, by which each file writes it. */
  as: 'count' | 'usdc' | 'brl' | 'time' | 'day' | 'text'
  read(entry: EntryBody): string | number | null
}

/** Fields in their order, with the head that an accountant in Brazil knows; without one, programs alone read it. */
const FIELDS = [
  ['sequence', 'count', 'Número'],
  ['at', 'time', 'Data (São Paulo)'],
  ['kind', 'text', 'Movimento'],
  ['amount', 'usdc', 'USDC'],
  ['brl_amount', 'brl', 'Reais pela cotação'],
  ['from_account', 'text', null],
  ['to_account', 'text', null],
  ['order_id', 'text', 'Cobrança'],
  ['reverses', 'count', 'Desfaz o número'],
  ['block_time', 'time', 'Data do bloco (São Paulo)'],
  ['booked_at', 'time', 'Lançado em (São Paulo)'],
  ['chain_id', 'count', 'Rede'],
  ['tx_hash', 'text', 'Transação'],
  ['log_index', 'count', null],
  ['block_number', 'count', null],
  ['payer_address', 'text', 'Pagador'],
  ['address', 'text', 'Endereço'],
  ['reason', 'text', 'Motivo'],
  ['market_rate', 'usdc', 'Cotação do momento'],
  ['market_brl_amount', 'brl', 'Reais no momento'],
  ['ptax_rate', 'usdc', 'PTAX venda'],
  ['ptax_date', 'day', 'Data da PTAX'],
] as const satisfies readonly (readonly [keyof EntryBody, EntryColumn['as'], string | null])[]

const KINDS: Record<EntryKind, string> = {
  payment: 'Pagamento',
  unmatched: 'Entrada sem cobrança',
  direct: 'Transferência direta',
  fee: 'Taxa da plataforma',
  settled: 'Repasse ao endereço',
  accepted: 'Diferença aceita',
  returned: 'Devolução',
}
const DOCUMENTS: Record<FiscalKind, string> = { nfe: 'NF-e', nfse: 'NFS-e' }

const text = (head: string, read: EntryColumn['read']): EntryColumn => ({ head, as: 'text', read })

export const entryColumns: Record<FileForm, readonly EntryColumn[]> = {
  international: [
    ...FIELDS.map(([field, as]): EntryColumn => ({ head: field, as, read: entry => entry[field] })),
    text('fiscal_document', ({ fiscal_document: document }) => (document ? `${document.kind} ${document.key}` : null)),
  ],
  brazilian: [
    ...FIELDS.flatMap(([field, as, head]): EntryColumn[] =>
      head === null ? [] : [{ head, as, read: entry => (field === 'kind' ? KINDS[entry.kind] : entry[field]) }],
    ),
    text('Documento fiscal', ({ fiscal_document: document }) => (document ? DOCUMENTS[document.kind] : null)),
    text('Chave do documento', ({ fiscal_document: document }) => (document ? groupedFiscalKey(document.key) : null)),
  ],
}

const clock = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
export const localTime = (iso: string) => clock.format(new Date(iso)).replace(', ', ' ')

/** Milliseconds of the clock in São Paulo, as if it stood in UTC. */
export function localClock(iso: string): number {
  const part = Object.fromEntries(clock.formatToParts(new Date(iso)).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
export const brazilianDay = (day: string): string => day.split('-').toReversed().join('/')
