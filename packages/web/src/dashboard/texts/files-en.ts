import type { filesPt } from './files-pt'

export const filesEn: typeof filesPt = {
  files: {
    title: 'Files for your accountant',
    lead: 'Every movement of the period, up to the moment of asking. The file is prepared in the background and kept for two days.',
    format: 'Format',
    formats: { xlsx: 'Excel (XLSX)', csv: 'CSV', ofx: 'OFX (statement of the payout address)', jsonl: 'JSON, a line per movement' },
    range: 'Period',
    ranges: { month: 'This month', year: 'The whole year', all: 'Everything' },
    make: 'Prepare file',
    all: 'Everything',
    save: 'Download',
    waiting: 'In the queue',
    progress: (rows: string, total: string) => `${rows} of ${total} movements`,
    rows: (rows: string) => `${rows} movements`,
    failures: {
      too_many_rows: 'More than a million movements: choose a shorter period.',
      not_finished: 'It could not be finished. Ask for it again.',
      not_proven: 'The network does not show the proofs at the moment. Ask for it again later.',
      too_large: 'Too large with its proofs: ask for a smaller amount.',
    },
  },
  dossier: {
    title: 'Origin dossier',
    lead: 'When an exchange asks where the USDC of a withdrawal came from: orders, payers, transactions with their proofs and your payout address, signed by this installation. Anyone verifies it without us. It has what you noted of your customers.',
    amount: 'Amount withdrawn, in USDC',
    amountHint: 'The newest movements that reached your payout address make it up.',
    formats: { dossier_pdf: 'PDF, to send', dossier_json: 'JSON, for programs' },
    make: 'Prepare dossier',
    chooseAll: 'Choose all shown for a dossier',
    choose: (sequence: number) => `Choose no. ${sequence} for a dossier`,
    chosen: (count: number, usdc: string) => `${count === 1 ? '1 movement' : `${count} movements`} chosen: ${usdc}`,
    toDossier: 'To the dossier',
    clear: 'Choose none',
  },
}
