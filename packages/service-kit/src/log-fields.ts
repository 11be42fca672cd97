import { AsyncLocalStorage } from 'node:async_hooks'

const storage = new AsyncLocalStorage<Record<string, string>>()

/** Runs `work` so that every log line it causes carries these fields, and those that are added on the way. */
export const withLogFields = <T>(fields: Record<string, string>, work: () => T): T =>
  storage.run({ ...storage.getStore(), ...fields }, work)

/** Adds a field to every further log line of what is being done now. */
export function addLogField(name: string, value: string): void {
  const fields = storage.getStore()
  if (fields) fields[name] = value
}

export const logFields = (): Readonly<Record<string, string>> => storage.getStore() ?? {}
