import { type EntryBody, type EntryKind, type FiscalKind, groupedFiscalKey } from '@ponte/contracts'
import { type CsvColumn, fieldColumns } from '@ponte/service-kit'

/** As programs read it. */
export const internationalColumns: readonly CsvColumn<EntryBody>[] = [
  ...fieldColumns<Exclude<keyof EntryBody, 'object' | 'fiscal_document'>>([
    'sequence',
    'at',
    'kind',
    'amount',
    'brl_amount',
    'from_account',
    'to_account',
    'order_id',
    'reverses',
    'block_time',
    'booked_at',
    'chain_id',
    'tx_hash',
    'log_index',
    'block_number',
    'payer_address',
    'address',
    'reason',
    'market_rate',
    'market_brl_amount',
    'ptax_rate',
    'ptax_date',
  ]),
  ['fiscal_document', ({ fiscal_document: document }) => (document ? `${document.kind} ${document.key}` : null)],
]

export const KINDS: Record<EntryKind, string> = {
  payment: 'Pagamento',
  unmatched: 'Entrada sem cobrança',
  direct: 'Transferência direta',
  fee: 'Taxa da plataforma',
  settled: 'Repasse ao endereço',
  accepted: 'Diferença aceita',
  returned: 'Devolução',
}
export const DOCUMENTS: Record<FiscalKind, string> = { nfe: 'NF-e', nfse: 'NFS-e' }
const clock = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const local = (iso: string) => clock.format(new Date(iso)).replace(', ', ' ')

/** Milliseconds of the clock in São Paulo, as if it stood in UTC. */
export function localClock(iso: string): number {
  const part = Object.fromEntries(clock.formatToParts(new Date(iso)).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
export const brazilianDay = (day: string | null) => day?.split('-').toReversed().join('/') ?? null
const decimal = (amount: string | null) => amount?.replace('.', ',') ?? null

/** As a spreadsheet in Brazil reads it: decimal commas, the times of São Paulo, and heads that an accountant knows. */
export const brazilianColumns: readonly CsvColumn<EntryBody>[] = [
  ['Número', ({ sequence }) => String(sequence)],
  ['Data (São Paulo)', ({ at }) => local(at)],
  ['Movimento', ({ kind }) => KINDS[kind]],
  ['USDC', ({ amount }) => decimal(amount)],
  ['Reais pela cotação', ({ brl_amount }) => decimal(brl_amount)],
  ['Cobrança', ({ order_id }) => order_id],
  ['Desfaz o número', ({ reverses }) => reverses?.toString() ?? null],
  ['Data do bloco (São Paulo)', ({ block_time }) => local(block_time)],
  ['Lançado em (São Paulo)', ({ booked_at }) => local(booked_at)],
  ['Rede', ({ chain_id }) => String(chain_id)],
  ['Transação', ({ tx_hash }) => tx_hash],
  ['Pagador', ({ payer_address }) => payer_address],
  ['Endereço', ({ address }) => address],
  ['Motivo', ({ reason }) => reason],
  ['Cotação do momento', ({ market_rate }) => decimal(market_rate)],
  ['Reais no momento', ({ market_brl_amount }) => decimal(market_brl_amount)],
  ['PTAX venda', ({ ptax_rate }) => decimal(ptax_rate)],
  ['Data da PTAX', ({ ptax_date }) => brazilianDay(ptax_date)],
  ['Documento fiscal', ({ fiscal_document: document }) => (document ? DOCUMENTS[document.kind] : null)],
  ['Chave do documento', ({ fiscal_document: document }) => (document ? groupedFiscalKey(document.key) : null)],
]
