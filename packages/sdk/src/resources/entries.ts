import { isPonteError, type PonteError } from '../failure.js'
import type { Entry, EntryPage, ExportEntries, ListEntries, Summary, SummaryQuery } from '../schemas.js'
import { pause, type RequestOptions, type Transport } from '../transport.js'
import { callOperation, exportFile } from './call.js'
import { withPatience } from './follow.js'

/** Where following begins, and what happens when the entries were put back. */
export interface FollowEntriesOptions extends RequestOptions {
  /** The `cursor` of the last entry that you have booked; 0 for all. */
  after: string | number
  /**
   * Called when the entries were put back to an earlier moment, with the cursor of the last one that stands: delete what you booked behind its sequence, because that
   * is booked anew under the same numbers. It goes on behind it once this is done.
   */
  onReset(resumeAfter: string): void | Promise<void>
  /** Entries in one answer, 1 to 100. */
  limit?: number
  /** Milliseconds until it looks again when there was nothing new. */
  everyMs?: number
  /** Called when a request failed and is sent again. */
  onRetry?(error: PonteError, delayMs: number): void
}

/** The ledger: a row per movement of your money, never changed, counted without gaps. */
export interface Entries {
  /** One page, oldest first; `next_cursor` is the `after` of the next one. */
  list(query?: ListEntries, options?: RequestOptions): Promise<EntryPage>
  /**
   * Every entry after a cursor, in order and without gaps, and then each one as it is booked. Goes on over lost connections and restarts of the service until its
   * signal ends it. Keep the `cursor` of what you have booked, and begin there next time.
   *
   * ```ts
   * const onReset = (resumeAfter: string) => ledger.deleteBehind(Number.parseInt(resumeAfter, 10))
   * for await (const entry of ponte.entries.follow({ after: await ledger.cursor(), onReset })) await ledger.book(entry)
   * ```
   */
  follow(options: FollowEntriesOptions): AsyncGenerator<Entry, void, undefined>
  /** Sums by day, week or month; every figure is a sum of entries. */
  summary(query: SummaryQuery, options?: RequestOptions): Promise<Summary>
  /** All pages of the list as CSV. */
  export(query?: ExportEntries, options?: RequestOptions): Promise<string>
}

const EVERY_MS = 10_000

export const createEntries = (send: Transport): Entries => {
  const list: Entries['list'] = (query, options) => callOperation(send, 'listEntries', { ...(query ? { query } : {}), ...options })
  return {
    list,
    follow: options => followEntries(list, options),
    summary: (query, options) => callOperation(send, 'getSummary', { query, ...options }),
    export: (query, options) => exportFile(send, 'exportEntries', query, options),
  }
}

async function* followEntries(list: Entries['list'], options: FollowEntriesOptions): AsyncGenerator<Entry, void, undefined> {
  const { signal, limit = 100, everyMs = EVERY_MS } = options
  let after = String(options.after)
  try {
    while (!signal?.aborted) {
      const page = await withPatience(() => list({ after, limit }, signal ? { signal } : {}), options).catch((error: unknown) => {
        if (isPonteError(error, 'events_reset') && error.resumeAfter !== null && error.resumeAfter !== after) return error.resumeAfter
        throw error
      })
      if (typeof page === 'string') {
        await options.onReset(page)
        after = page
        continue
      }
      for (const entry of page.data) {
        yield entry
        if (signal?.aborted) return
      }
      after = page.next_cursor
      if (!page.has_more) await pause(everyMs, signal)
    }
  } catch (error) {
    if (!isPonteError(error, 'aborted') || !signal?.aborted) throw error
  }
}
