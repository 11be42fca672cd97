/** A core's planned load, so that a burst or a lost replica finds room. */
const USED = 0.5
/** Gas of a sweep in a batch of twenty, and how many addresses a batch takes (packages/payment-router/README.md, DEPOSIT_BATCH_MAX). */
const SWEEP_GAS = 70_339
const BATCH = 50
const DAY_S = 86_400

const cellsOf = line =>
  line
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim())

/** The rows under the table's head of docs/performance.md that begins so. */
function rowsUnder(text, head) {
  const lines = text.split('\n')
  const at = lines.findIndex(line => line.startsWith(head))
  if (at === -1) throw new Error(`docs/performance.md has no table that begins "${head}".`)
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'))
  return { columns: cellsOf(lines[at]), rows: lines.slice(at + 2, end === -1 ? undefined : end).map(cellsOf) }
}

const numberOf = cell => Number(cell.replaceAll(',', '').replace('–', '0'))

/** Measurements of docs/performance.md: processor time by process, and bytes kept in each database, for one order that is paid and notified. */
export function measured(text) {
  const { columns, rows } = rowsUnder(text, '| for one |')
  const of = begins => rows.find(([name]) => name.startsWith(begins)) ?? []
  const names = columns.slice(1, -1)
  const order = of('order created')
  const payment = of('payment at')
  const cpuMs = Object.fromEntries(names.map((name, index) => [name, numberOf(order[index + 1]) + numberOf(payment[index + 1])]))
  const kept = rowsUnder(text, '| kept by |').rows.map(([place, bytes, , days]) => {
    const [database, table] = place.split(': ')
    return { database, table, bytes: numberOf(bytes), days: days === 'for ever' ? Number.POSITIVE_INFINITY : numberOf(days) }
  })
  const wal = /([\d,]+) bytes of write-ahead log/.exec(text)?.[1]
  if (wal === undefined) throw new Error('docs/performance.md does not state the bytes of write-ahead log of an order.')
  return { cpuMs, kept, walBytes: numberOf(wal) }
}

/** Cores and processes, disk after so many days, and what else a rate of orders takes. */
export function capacity({ cpuMs, kept, walBytes }, rate, days) {
  const cores = Object.entries(cpuMs).map(([name, ms]) => {
    const busy = (rate * ms) / 1_000
    return { name, 'ms for an order': round(ms), 'cores busy': round(busy), 'at half use': Math.max(1, Math.ceil(busy / USED)) }
  })
  const databases = [...new Set(kept.map(({ database }) => database))]
  const disk = databases.map(database => {
    const rows = kept.filter(row => row.database === database)
    const forEver = sum(rows.filter(row => row.days === Number.POSITIVE_INFINITY).map(({ bytes }) => bytes))
    const forDays = sum(rows.filter(row => row.days !== Number.POSITIVE_INFINITY).map(row => row.bytes * Math.min(row.days, days)))
    const perDay = rate * DAY_S
    return {
      database,
      'for ever, bytes for an order': forEver,
      'GB kept for days': gb(forDays * perDay),
      [`GB after ${days} days`]: gb((forDays + forEver * days) * perDay),
    }
  })
  const other = [
    { what: 'orders a day', value: rate * DAY_S },
    { what: 'write-ahead log, MB a second', value: round((rate * walBytes) / 1e6) },
    { what: 'write-ahead log, GB a day', value: gb(rate * walBytes * DAY_S) },
    { what: 'gas of sweeps, million a second', value: round((rate * SWEEP_GAS) / 1e6) },
    { what: 'sweeping transactions a second', value: round(rate / BATCH) },
    { what: 'days until 100,000,000 orders', value: round(1e8 / (rate * DAY_S)) },
  ]
  return { cores, disk, other }
}

const RATES = [10, 100, 1_000]

/** The tables of docs/capacity.md. */
export function tables(costs) {
  const at = RATES.map(rate => capacity(costs, rate, 365))
  const head = RATES.map(rate => `${rate.toLocaleString('en')}/s`)
  const forEver = at[0].disk
  return {
    cores: markdown(
      ['process', 'ms for an order', ...head.map(rate => `cores at ${rate}`)],
      at[0].cores.map((row, index) => [
        row.name,
        row['ms for an order'],
        ...at.map(({ cores }) => `${cores[index]['cores busy']} (${cores[index]['at half use']})`),
      ]),
    ),
    disk: markdown(
      ['database', 'bytes for ever, of an order', '100,000,000 orders, GB', ...head.map(rate => `GB kept for days at ${rate}`)],
      forEver.map((row, index) => [
        row.database,
        row['for ever, bytes for an order'].toLocaleString('en'),
        gb(row['for ever, bytes for an order'] * 1e8),
        ...at.map(({ disk }) => disk[index]['GB kept for days']),
      ]),
    ),
    other: markdown(
      ['what', ...head],
      at[0].other.map(({ what }, index) => [what, ...at.map(({ other }) => other[index].value.toLocaleString('en'))]),
    ),
  }
}

const markdown = (columns, rows) => [columns, columns.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
const sum = numbers => numbers.reduce((total, number) => total + number, 0)
const round = value => Number(value.toPrecision(2))
const gb = bytes => Number((bytes / 1e9).toPrecision(3))
