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
    },
  },
}
