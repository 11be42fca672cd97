const field = (error: unknown, name: string): string | undefined => {
  const value = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
  return typeof value === 'string' ? value : undefined
}

/** True when the statement hit the named unique or primary key: another write was first. */
export const isUniqueViolation = (error: unknown, constraint: string): boolean =>
  field(error, 'code') === '23505' && field(error, 'constraint') === constraint

/**
 * True when a row changed between finding and committing it. `updateVersioned` sets a version that moved on to NULL, which the column refuses,
 * and the whole statement is rolled back.
 */
export const isStale = (error: unknown): boolean => field(error, 'code') === '23502' && field(error, 'column') === 'version'

/** Deadlock or lock timeout; rolled back. */
export const isLockedOut = (error: unknown): boolean => /^(40P01|55P03)$/.test(field(error, 'code') ?? '')

/** Lock timeout while this unique key waited for another transaction's row with the same key. */
export const isKeyLockTimeout = (error: unknown, constraint: string): boolean =>
  field(error, 'code') === '55P03' && (field(error, 'where') ?? '').includes(`in relation "${constraint}"`)

const TRANSIENT_STATE = /^(08|53|57P|57014|40001|40P01|55P03|25006|3D000|XX000)/
const TRANSIENT_NODE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/
const TRANSIENT_PRISMA = /^P(1001|1002|1008|1017|2024|2028|2034|2037)$/
const TRANSIENT_TEXT =
  /is not currently accepting connections|Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end/
/** Where Prisma and Node keep the error that they wrap. */
const WRAPPERS = ['cause', 'meta', 'driverAdapterError']
const WRAPPED_DEPTH_MAX = 6

/** True when the database could not be asked, or lost a race by itself: the same work may succeed a moment later. */
export function isTransient(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > WRAPPED_DEPTH_MAX) return false
  for (const code of [field(error, 'code') ?? '', field(error, 'originalCode') ?? '']) {
    if (TRANSIENT_STATE.test(code) || TRANSIENT_NODE.test(code) || TRANSIENT_PRISMA.test(code)) return true
  }
  if (error instanceof Error && TRANSIENT_TEXT.test(error.message)) return true
  return WRAPPERS.some(wrapper => isTransient(Reflect.get(error, wrapper), depth + 1))
}
