import { type EntryBody, groupedFiscalKey } from '@ponte/contracts'
import { guardedText } from '@ponte/service-kit'
import { brazilianDay, DOCUMENTS, KINDS, localClock } from './entries-csv'
import { type Cell, timeCell } from './xlsx'

export type XlsxColumn = readonly [head: string, read: (entry: EntryBody) => Cell]

const text = (value: string | null): Cell => value && guardedText(value)
const number = (value: number | string | null, style: 'count' | 'usdc' | 'brl'): Cell =>
  value === null ? null : { value: Number(value), style }
const utc = (iso: string): Cell => timeCell(Date.parse(iso))
const saoPaulo = (iso: string): Cell => timeCell(localClock(iso))

/** As programs read it: the fields under their own names, and times in UTC. */
export const internationalSheet: readonly XlsxColumn[] = [
  ['sequence', ({ sequence }) => number(sequence, 'count')],
  ['at', ({ at }) => utc(at)],
  ['kind', ({ kind }) => kind],
  ['amount', ({ amount }) => number(amount, 'usdc')],
  ['brl_amount', ({ brl_amount }) => number(brl_amount, 'brl')],
  ['from_account', ({ from_account }) => from_account],
  ['to_account', ({ to_account }) => to_account],
  ['order_id', ({ order_id }) => order_id],
  ['reverses', ({ reverses }) => number(reverses, 'count')],
  ['block_time', ({ block_time }) => utc(block_time)],
  ['booked_at', ({ booked_at }) => utc(booked_at)],
  ['chain_id', ({ chain_id }) => number(chain_id, 'count')],
  ['tx_hash', ({ tx_hash }) => tx_hash],
  ['log_index', ({ log_index }) => number(log_index, 'count')],
  ['block_number', ({ block_number }) => number(block_number, 'count')],
  ['payer_address', ({ payer_address }) => payer_address],
  ['address', ({ address }) => address],
  ['reason', ({ reason }) => text(reason)],
  ['market_rate', ({ market_rate }) => number(market_rate, 'usdc')],
  ['market_brl_amount', ({ market_brl_amount }) => number(market_brl_amount, 'brl')],
  ['ptax_rate', ({ ptax_rate }) => number(ptax_rate, 'usdc')],
  ['ptax_date', ({ ptax_date }) => ptax_date],
  ['fiscal_document', ({ fiscal_document: document }) => (document ? `${document.kind} ${document.key}` : null)],
]

/** The heads and times of the Brazilian form of CSV. */
export const brazilianSheet: readonly XlsxColumn[] = [
  ['Número', ({ sequence }) => number(sequence, 'count')],
  ['Data (São Paulo)', ({ at }) => saoPaulo(at)],
  ['Movimento', ({ kind }) => KINDS[kind]],
  ['USDC', ({ amount }) => number(amount, 'usdc')],
  ['Reais pela cotação', ({ brl_amount }) => number(brl_amount, 'brl')],
  ['Cobrança', ({ order_id }) => order_id],
  ['Desfaz o número', ({ reverses }) => number(reverses, 'count')],
  ['Data do bloco (São Paulo)', ({ block_time }) => saoPaulo(block_time)],
  ['Lançado em (São Paulo)', ({ booked_at }) => saoPaulo(booked_at)],
  ['Rede', ({ chain_id }) => number(chain_id, 'count')],
  ['Transação', ({ tx_hash }) => tx_hash],
  ['Pagador', ({ payer_address }) => payer_address],
  ['Endereço', ({ address }) => address],
  ['Motivo', ({ reason }) => text(reason)],
  ['Cotação do momento', ({ market_rate }) => number(market_rate, 'usdc')],
  ['Reais no momento', ({ market_brl_amount }) => number(market_brl_amount, 'brl')],
  ['PTAX venda', ({ ptax_rate }) => number(ptax_rate, 'usdc')],
  ['Data da PTAX', ({ ptax_date }) => brazilianDay(ptax_date)],
  ['Documento fiscal', ({ fiscal_document: document }) => (document ? DOCUMENTS[document.kind] : null)],
  ['Chave do documento', ({ fiscal_document: document }) => (document ? groupedFiscalKey(document.key) : null)],
]
