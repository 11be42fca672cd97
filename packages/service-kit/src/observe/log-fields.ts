import { AsyncLocalStorage } from 'node:async_hooks'
import { context, ROOT_CONTEXT } from '@opentelemetry/api'

type Fields = Record<string, string>

const storage = new AsyncLocalStorage<Fields>()

/** Runs `work` so that every log line it causes carries these fields, and those that are added on the way. */
export const withLogFields = <T>(fields: Fields, work: () => T): T => storage.run({ ...storage.getStore(), ...fields }, work)

/** Adds to every further log line of what is being done now. */
export function addLogFields(fields: Fields): void {
  Object.assign(storage.getStore() ?? {}, fields)
}

export const logFields = (): Readonly<Fields> => storage.getStore() ?? {}

/** Runs `work` outside the current log fields and trace: what a request or an event wakes serves other callers as well. */
export const withoutContext = <T>(work: () => T): T => storage.run({}, () => context.with(ROOT_CONTEXT, work))
