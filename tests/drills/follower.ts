import { type Entry, Ponte } from '@ponte/sdk'

/** A merchant's program that follows its events and its entries all the time. It has to see each that stands, whatever was put back meanwhile. */
export function startFollower(gatewayUrl: string, apiKey: string) {
  const ponte = new Ponte(apiKey, { baseUrl: gatewayUrl })
  const ending = new AbortController()
  const seen = new Set<string>()
  const booked: Entry[] = []
  const failures: string[] = []
  let resets = 0
  const onReset = () => {
    resets += 1
  }
  const deleteBehind = (resumeAfter: string) => {
    resets += 1
    booked.length = Number.parseInt(resumeAfter, 10)
  }
  const follow = async () => {
    for await (const { id } of ponte.events.follow({ after: 0, signal: ending.signal, onReset })) seen.add(id)
  }
  const book = async () => {
    const rest = { everyMs: 100, signal: ending.signal, onReset: deleteBehind }
    for await (const entry of ponte.entries.follow({ after: 0, ...rest })) booked.push(entry)
  }
  const ended = [follow, book].map(work => work().catch((error: Error) => failures.push(error.message)))
  return {
    resets: () => resets,
    /** Events that it has not seen, where its entries are not those that stand, or why it ended. */
    async missing(): Promise<string[]> {
      if (failures.length > 0) return failures
      const missing: string[] = []
      for await (const { id, type } of ponte.events.list({ limit: 100 })) if (!seen.has(id)) missing.push(`${type} ${id}`)
      let [after, more] = ['0', true]
      while (more) {
        const page = await ponte.entries.list({ after, limit: 100 })
        for (const entry of page.data)
          if (JSON.stringify(booked[entry.sequence - 1]) !== JSON.stringify(entry)) missing.push(`entry ${entry.sequence}`)
        ;[after, more] = [page.next_cursor, page.has_more]
      }
      return missing
    },
    async stop() {
      ending.abort()
      await Promise.all(ended)
    },
  }
}
export type Follower = ReturnType<typeof startFollower>
