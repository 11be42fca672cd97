import { Button, NativeSelect } from '@mantine/core'
import type { CreateExport, ExportBody, ExportFormat } from '@ponte/contracts'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { BOOKS_ZONE } from '../../due-day'
import { api } from '../api/api'
import { useNetworkName } from '../api/use-networks'
import { Card } from '../elements/card'
import { Failure } from '../elements/states'
import { saveBlob } from '../lists/save-blob'
import { useWords } from '../texts/words'
import { instantsOf, yearOf } from './months'

export type DossierFormat = Extract<ExportFormat, `dossier_${string}`>
type EntriesFormat = Exclude<ExportFormat, DossierFormat>
const FORMATS: readonly EntriesFormat[] = ['xlsx', 'csv', 'ofx', 'jsonl']
const RANGES = ['month', 'year', 'all'] as const
const LOOK_MS = 1_500

/** Files of the ledger, of a month, its year or everything, with the progress of those that are being made. */
export function LedgerFiles({ month, network }: { month: string; network: string | undefined }) {
  const { t, language } = useWords()
  const [format, setFormat] = useState<EntriesFormat>('xlsx')
  const [range, setRange] = useState<(typeof RANGES)[number]>('month')
  const make = useMakeExport()
  const asked = (): CreateExport => {
    const span = { month: instantsOf(month), year: yearOf(month), all: {} }[range]
    return { ...span, ...(network ? { chain_id: Number(network) } : {}), format, form: language === 'pt' ? 'brazilian' : 'international' }
  }
  return (
    <Card title={t.files.title}>
      <p className="faint">{t.files.lead}</p>
      <div className="file-choice">
        <NativeSelect
          label={t.files.format}
          value={format}
          onChange={({ target }) => setFormat(FORMATS.find(each => each === target.value) ?? 'xlsx')}
          data={FORMATS.map(value => ({ value, label: t.files.formats[value] }))}
        />
        <NativeSelect
          label={t.files.range}
          value={range}
          onChange={({ target }) => setRange(RANGES.find(each => each === target.value) ?? 'month')}
          data={RANGES.map(value => ({ value, label: t.files.ranges[value] }))}
        />
        <Button loading={make.isPending} onClick={() => make.mutate(asked())}>
          {t.files.make}
        </Button>
      </div>
      {make.error && <Failure error={make.error} />}
      <FileList isListed={file => !isDossier(file)} />
    </Card>
  )
}

export function useMakeExport() {
  const client = useQueryClient()
  return useMutation({ mutationFn: api.createExport, onSuccess: () => client.invalidateQueries({ queryKey: ['exports'] }) })
}

export const isDossier = ({ format }: ExportBody): boolean => format.startsWith('dossier_')

/** Files that were asked for, with the progress of those that are being made. */
export function FileList({ isListed }: { isListed(file: ExportBody): boolean }) {
  const found = useQuery({
    queryKey: ['exports'],
    queryFn: api.exports,
    refetchInterval: ({ state }) => (state.data?.data.some(isOpen) ? LOOK_MS : false),
  })
  const files = found.data?.data.filter(isListed) ?? []
  return (
    <>
      {found.error && <Failure error={found.error} onRetry={() => void found.refetch()} />}
      {files.length > 0 && (
        <ul className="files">
          {files.map(file => (
            <FileRow key={file.id} file={file} />
          ))}
        </ul>
      )}
    </>
  )
}

const isOpen = ({ status }: ExportBody) => status === 'waiting' || status === 'running'

function FileRow({ file }: { file: ExportBody }) {
  const { t, locale, usdc } = useWords()
  const network = useNetworkName()(file.chain_id)
  const day = (at: number) => new Date(at).toLocaleDateString(locale, { timeZone: BOOKS_ZONE })
  const basis = file.amount ? usdc(file.amount) : file.entries ? t.files.rows(file.entries.length.toLocaleString(locale)) : null
  const span = file.at_gte && file.at_lt ? `${day(Date.parse(file.at_gte))} – ${day(Date.parse(file.at_lt) - 1)}` : t.files.all
  return (
    <li>
      <span>
        {file.format.replace('dossier_', '').toUpperCase()} <span className="faint">{isDossier(file) ? basis : span}</span>
        <span className="faint">{network}</span>
      </span>
      <FileState file={file} />
    </li>
  )
}

function FileState({ file }: { file: ExportBody }) {
  const { t, locale } = useWords()
  const save = useMutation({
    mutationFn: () => api.exportFile(file.id),
    onSuccess: blob =>
      saveBlob(blob, isDossier(file) ? `dossier-${file.id}.${file.format.replace('dossier_', '')}` : `entries.${file.format}`),
  })
  const count = (rows: number) => rows.toLocaleString(locale)
  if (file.status === 'failed') return <span className="above">{t.files.failures[file.failure ?? 'not_finished']}</span>
  if (file.status === 'ready') {
    return (
      <span className="file-ready">
        <span className="faint">{t.files.rows(count(file.rows))}</span>
        <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
          {t.files.save}
        </Button>
        {save.error && <Failure error={save.error} />}
      </span>
    )
  }
  const text = file.rows_total === null ? t.files.waiting : t.files.progress(count(file.rows), count(file.rows_total))
  return (
    <span className="file-ready" role="status">
      <progress max={file.rows_total ?? 1} value={file.rows_total === null ? 0 : file.rows} aria-label={text} />
      <span className="faint">{text}</span>
    </span>
  )
}
