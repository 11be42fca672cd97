import type { OutboxRow } from './outbox-rows'
import type { Sql } from './sql'
import { snakeCase } from './table'

/** SQL whose parameters have names: `$orders` is what a unit gives as `orders`. Kept in a constant, so that it is prepared once a connection. */
export interface Statement {
  name: string
  text: string
}

export interface Answer {
  status: number
  body: string
}

/** The answer that is stored in the statement of its effect, for a client that repeats the request. */
export interface StoredAnswer extends Answer {
  merchantId: string
  /** Method and path; ids in it are lower-case. */
  route: string
  key: string
  bodyHash: string
}

/** Written by one statement, all or nothing. An absent or empty part is left out of the statement. */
export interface Unit {
  /** Ids of the events that caused it. One that is in the inbox already fails on `inbox_pkey`, and the consumer takes that for done. */
  inbox?: readonly string[]
  /** Events to publish, made by `outboxRows`. */
  events?: readonly OutboxRow[]
  /** Answers of keyed requests. One whose key is taken fails on `idempotency_keys_pkey`, and `answerOnce` replays the first. */
  answers?: readonly StoredAnswer[]
  write?: Statement
  /** Records by parameter name, handed over as JSON: read them with `json_populate_recordset(NULL::orders, $orders)`, by column name. */
  rows?: Readonly<Record<string, readonly object[]>>
  /** Single values and column arrays by parameter name, handed to the driver as they are. */
  values?: Readonly<Record<string, unknown>>
}

const SIDE_EFFECTS_CTE = {
  inbox: 'inbox_rows AS (INSERT INTO inbox (event_id) SELECT unnest($inbox::uuid[]))',
  // Bodies travel as lines: escaping JSON text as array elements costs more than all the rest.
  events: `outbox_rows AS (INSERT INTO outbox (id, type, merchant_id, body)
    SELECT * FROM unnest($event_ids::uuid[], $event_types::text[], $event_merchant_ids::uuid[], string_to_array($event_bodies, E'\\n')))`,
  answers: `answer_rows AS (INSERT INTO idempotency_keys (merchant_id, route, key, body_hash, status, body)
    SELECT * FROM json_to_recordset($answers) AS a(merchant_id uuid, route text, key text, body_hash text, status int, body text))`,
} as const

type Side = keyof typeof SIDE_EFFECTS_CTE

const SIDES: readonly Side[] = ['inbox', 'events', 'answers']
const NOTHING: Statement = { name: 'unit', text: 'SELECT 1' }

interface Compiled extends Statement {
  /** Names of the parameters in the order of their numbers. */
  parameters: readonly string[]
}

const compiled = new WeakMap<Statement, Map<string, Compiled>>()

/** Writes a unit of work on this connection, in one statement. Inside a transaction it is one step of it. */
export async function commitUnit<Row extends object>(
  sql: Sql,
  unit: Unit,
): Promise<{ rows: (Row & Record<string, unknown>)[]; rowCount: number | null }> {
  const { name, text, parameters } = compile(
    unit.write ?? NOTHING,
    SIDES.filter(side => unit[side]?.length),
  )
  const sides = sideValues(unit)
  return sql.query(
    { name, text },
    parameters.map(parameter => {
      if (unit.rows && Object.hasOwn(unit.rows, parameter)) return toJson(unit.rows[parameter] ?? [])
      if (unit.values && Object.hasOwn(unit.values, parameter)) return unit.values[parameter]
      const value = sides[parameter]
      if (value === undefined) throw new Error(`${name} was given nothing for $${parameter}.`)
      return value()
    }),
  )
}

/** One prepared statement for each set of sides: PostgreSQL refuses one name for two texts. */
function compile(write: Statement, sides: readonly Side[]): Compiled {
  const variants = compiled.get(write) ?? new Map<string, Compiled>()
  compiled.set(write, variants)
  const variant = sides.map(side => side[0]).join('')
  const known = variants.get(variant)
  if (known) return known
  const ctes = sides.map(side => SIDE_EFFECTS_CTE[side]).join(', ')
  const [, own] = /^\s*WITH\s+(.*)$/is.exec(write.text) ?? []
  const named = ctes === '' ? write.text : own === undefined ? `WITH ${ctes} ${write.text}` : `WITH ${ctes}, ${own}`
  const parameters: string[] = []
  const text = named.replace(/\$([a-z]\w*)/gi, (_, parameter: string) => {
    const at = parameters.indexOf(parameter)
    return `$${at < 0 ? parameters.push(parameter) : at + 1}`
  })
  const made = { name: variant === '' ? write.name : `${write.name}/${variant}`, text, parameters }
  variants.set(variant, made)
  return made
}

const sideValues = ({ inbox = [], events = [], answers = [] }: Unit): Readonly<Record<string, () => unknown>> => ({
  inbox: () => inbox,
  event_ids: () => events.map(({ id }) => id),
  event_types: () => events.map(({ type }) => type),
  event_merchant_ids: () => events.map(({ merchantId }) => merchantId),
  event_bodies: () => events.map(({ body }) => body).join('\n'),
  answers: () => toJson(answers.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(snakeCase)),
})

/** By their keys everywhere, so that two replicas that are asked the same wait for each other and not in a circle. */
const keyOf = ({ merchantId, key }: StoredAnswer) => `${merchantId} ${key}`

/** JSON as PostgreSQL reads it into columns: a bigint as its digits, bytes as hex. */
function toJson(records: readonly object[]): string {
  return JSON.stringify(records, function (this: Record<string, unknown>, key, value: unknown) {
    if (typeof value === 'bigint') return String(value)
    const raw = typeof value === 'object' && value !== null ? this[key] : null
    return raw instanceof Uint8Array ? `\\x${Buffer.from(raw).toString('hex')}` : value
  })
}

/** `INSERT` of the records named `$<table>`, these columns of them. */
export const insertRows = (table: string, columns: readonly string[]): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM json_populate_recordset(NULL::${table}, $${table})`

/**
 * `UPDATE` of the rows whose `id` and `version` the records named `$<table>` have; at most one record a row. A version that moved on since it
 * was read becomes NULL, which the column refuses: the whole statement is rolled back with an error that `isStale` knows. So does one where `standing` is false.
 */
export const updateVersioned = (table: string, columns: readonly string[], standing = 'true'): string =>
  `UPDATE ${table} SET ${columns.map(column => `${column} = incoming.${column}`).join(', ')},
    version = CASE WHEN ${table}.version = incoming.version AND ${standing} THEN ${table}.version + 1 END
  FROM json_populate_recordset(NULL::${table}, $${table}) AS incoming WHERE ${table}.id = incoming.id`
