/** One row of a service's table as its ops port shows it: numbers beyond 32 bits and times are text. */
export type Row = Readonly<Record<string, unknown>>

/** Where the ops ports are. */
export interface OpsUrls {
  'chain-listener': string
  /** Of each network beside the first. */
  otherListeners?: readonly string[]
  orders: string
  'webhook-dispatcher': string
  /** Without them what they own is held against nothing. */
  'api-gateway'?: string
  subscriptions?: string
}

export async function ask<T>(url: string, path: string): Promise<T> {
  const response = await fetch(`${url.replace(/\/$/, '')}${path}`, { signal: AbortSignal.timeout(60_000) })
  if (!response.ok) throw new Error(`${url}${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

/** Every row of a table, page by page. */
export async function readTable(url: string, table: string): Promise<Row[]> {
  const all: Row[] = []
  for (let after: readonly unknown[] | null = []; after; ) {
    const beyond: string = after.length > 0 ? `&after=${encodeURIComponent(JSON.stringify(after))}` : ''
    const page: { rows: Row[]; next: unknown[] | null } = await ask(url, `/audit/${table}?limit=5000${beyond}`)
    all.push(...page.rows)
    after = page.next
  }
  return all
}

export const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value))
export const units = (value: unknown): bigint => BigInt(String(value))
export const lower = (value: unknown): string | null => text(value)?.toLowerCase() ?? null
/** A time as JSON or a driver has it. */
export const millis = (value: unknown): number => (value instanceof Date ? value.getTime() : Date.parse(String(value)))
export const seconds = (value: unknown): number => Math.floor(millis(value) / 1_000)
export const decimal = (value: bigint, places: number): string => {
  const digits = value.toString().padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** Rows by what they have in common. */
export function groupBy(rows: readonly Row[], key: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) groups.set(key(row), [...(groups.get(key(row)) ?? []), row])
  return groups
}

/** A sentence for each pair that is not alike. */
export const unlike = (about: string, pairs: readonly (readonly [what: string, is: unknown, must: unknown])[]): string[] =>
  pairs.flatMap(([what, is, must]) =>
    JSON.stringify(is) === JSON.stringify(must)
      ? []
      : [`${what}: ${about} has ${JSON.stringify(is)}, and it must be ${JSON.stringify(must)}`],
  )
