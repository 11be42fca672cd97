import { type EntryBody, formatUsdc } from '@ponte/contracts'
import type { PayoutAccount } from '../ledger/entry'
import { localClock } from './entry-columns'

export const ofxStart = (at: Date): string =>
  [
    ...['OFXHEADER:100', 'DATA:OFXSGML', 'VERSION:102', 'SECURITY:NONE', 'ENCODING:USASCII', 'CHARSET:1252', 'COMPRESSION:NONE'],
    ...['OLDFILEUID:NONE', 'NEWFILEUID:NONE', '', '<OFX>', '<SIGNONMSGSRSV1>', '<SONRS>'],
    ...['<STATUS>', '<CODE>0', '<SEVERITY>INFO', '</STATUS>', `<DTSERVER>${ofxTime(at)}`, '<LANGUAGE>POR'],
    ...['<FI>', '<ORG>Ponte', '<FID>Ponte', '</FI>', '</SONRS>', '</SIGNONMSGSRSV1>', ''],
  ].join('\r\n')

export const OFX_END = '</OFX>\r\n'
export const STATEMENTS_START = '<BANKMSGSRSV1>\r\n'
export const STATEMENTS_END = '</BANKMSGSRSV1>\r\n'

/**
 * An account is named by numbers of at most 9, 22 and 22 characters: the network, the first half of the address and, as its branch, the rest. OFX wants a currency
 * of ISO 4217; a USDC is redeemed for a dollar, and every movement has its USDC, which not every one has in reais.
 */
export const statementStart = ({ chainId, address, from, to }: PayoutAccount): string =>
  [
    ...['<STMTTRNRS>', '<TRNUID>0', '<STATUS>', '<CODE>0', '<SEVERITY>INFO', '</STATUS>', '<STMTRS>', '<CURDEF>USD', '<BANKACCTFROM>'],
    ...[`<BANKID>${chainId}`, `<BRANCHID>${address.slice(22)}`, `<ACCTID>${address.slice(0, 22)}`, '<ACCTTYPE>CHECKING', '</BANKACCTFROM>'],
    ...['<BANKTRANLIST>', `<DTSTART>${ofxTime(from)}`, `<DTEND>${ofxTime(to)}`, ''],
  ].join('\r\n')

/** The wallet spends what the ledger does not see, so the balance is that of the movements. */
export const statementEnd = ({ units, to }: PayoutAccount): string =>
  [
    ...['</BANKTRANLIST>', '<LEDGERBAL>', `<BALAMT>${formatUsdc(units)}`, `<DTASOF>${ofxTime(to)}`, '</LEDGERBAL>'],
    ...['</STMTRS>', '</STMTTRNRS>', ''],
  ].join('\r\n')

const NAMES: Partial<Record<EntryBody['kind'], string>> = { settled: 'Repasse', direct: 'Transferencia direta', returned: 'Devolucao' }

/** A movement; one that takes another back is one of its own. Its id names the entry in its epoch, so the same file taken in again brings nothing twice. */
export function movement({ kind, amount, brl_amount, at, cursor, order_id, tx_hash, reverses, reason }: EntryBody): string {
  const signed = kind === 'returned' ? negated(amount) : amount
  const memo = [
    ...(reverses === null ? [] : [`estorno do lancamento ${reverses}`]),
    ...(brl_amount === null ? [] : [`BRL ${brl_amount}`]),
    ...(order_id === null ? [] : [order_id]),
    ...[tx_hash, ...(reason === null ? [] : [reason])],
  ]
  return [
    ...['<STMTTRN>', `<TRNTYPE>${signed.startsWith('-') ? 'DEBIT' : 'CREDIT'}`, `<DTPOSTED>${ofxTime(new Date(at))}`, `<TRNAMT>${signed}`],
    ...[`<FITID>${cursor}`, `<NAME>${NAMES[kind] ?? kind}`, `<MEMO>${sgml(memo.join(' '), MEMO_LENGTH_MAX)}`, '</STMTTRN>', ''],
  ].join('\r\n')
}

const MEMO_LENGTH_MAX = 255

const negated = (amount: string): string => (amount.startsWith('-') ? amount.slice(1) : `-${amount}`)

/** By the clock of São Paulo, as the books count days: many importers take the digits and leave the zone. */
function ofxTime(at: Date): string {
  const local = localClock(at.toISOString())
  const hours = (local - Math.floor(at.getTime() / 1000) * 1000) / 3_600_000
  return `${new Date(local).toISOString().slice(0, 19).replace(/[-T:]/g, '')}[${hours}:BRT]`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Texts of one line in ASCII: importers differ in how they read everything else. */
const sgml = (text: string, lengthMax: number): string =>
  text
    .normalize('NFD')
    .replace(/[^\x20-\x7e]+/g, each => (/^[\u0300-\u036f]+$/.test(each) ? '' : ' '))
    .slice(0, lengthMax)
    .trim()
    .replace(/[&<>]/g, each => ENTITIES[each] ?? '')
