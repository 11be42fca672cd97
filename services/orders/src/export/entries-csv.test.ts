import type { EntryBody } from '@ponte/contracts'
import { csvLine } from '@ponte/service-kit'
import { brazilianColumns, internationalColumns } from './entries-csv'

const entry: EntryBody = {
  ...{
    object: 'entry',
    sequence: 12,
    cursor: '12',
    kind: 'fee',
    amount: '-1234.500000',
    brl_amount: '-6690.99',
    from_account: 'received',
    to_account: 'platform',
  },
  ...{
    order_id: null,
    reverses: 7,
    at: '2028-03-01T02:59:59.999Z',
    block_time: '2027-01-01T02:59:59.000Z',
    booked_at: '2026-12-01T03:00:00.000Z',
  },
  ...{ chain_id: 8453, tx_hash: '0x1', log_index: 0, block_number: 1, payer_address: null, address: null, reason: 'a;b' },
  ...{ market_rate: '5.430000', market_brl_amount: '-6703.34', ptax_rate: '5.378100', ptax_date: '2028-02-29' },
}
const rowOf = (columns: typeof brazilianColumns) => columns.map(([, read]) => read(entry))

test('the Brazilian form has decimal commas and the days of São Paulo, over leap days, months and years', () => {
  expect(csvLine(rowOf(brazilianColumns), ';')).toBe(
    '12;29/02/2028 23:59:59;Taxa da plataforma;-1234,500000;-6690,99;;7;31/12/2026 23:59:59;01/12/2026 00:00:00;8453;0x1;;;"a;b";5,430000;-6703,34;5,378100;29/02/2028;;\r\n',
  )
})

test('a fiscal document is a text for a spreadsheet in each form, so that no digit is lost', () => {
  const key = '35261112ABC34501DE35550010000000071123456789'
  const documented: EntryBody = { ...entry, fiscal_document: { kind: 'nfe', key } }
  const last = (columns: typeof brazilianColumns) => columns.at(-1)?.[1](documented)
  expect(last(internationalColumns)).toBe(`nfe ${key}`)
  expect(last(brazilianColumns)).toBe('3526 1112 ABC3 4501 DE35 5500 1000 0000 0711 2345 6789')
})

test('the international form has points and UTC', () => {
  expect(csvLine(rowOf(internationalColumns)).slice(0, 60)).toBe('12,2028-03-01T02:59:59.999Z,fee,-1234.500000,-6690.99,receiv')
})
