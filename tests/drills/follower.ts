import { Ponte } from '@ponte/sdk'

/** A merchant's program that follows its events all the time. It has to see each one that stands, whatever was put back meanwhile. */
export function startFollower(gatewayUrl: string, apiKey: string) {
  const ponte = new Ponte(apiKey, { baseUrl: gatewayUrl })
  const ending = new AbortController()
  const seen = new Set<string>()
  let [resets, failure] = [0, null as string | null]
  const onReset = () => {
    resets += 1
  }
  const follow = async () => {
    for await (const { id } of ponte.events.follow({ after: 0, signal: ending.signal, onReset })) seen.add(id)
  }
  const ended = follow().catch((error: Error) => {
    failure = error.message
  })
  return {
    resets: () => resets,
    /** Events that it has not seen, or why it ended. */
    async missing(): Promise<string[]> {
      if (failure !== null) return [failure]
      const missing: string[] = []
      for await (const { id, type } of ponte.events.list({ limit: 100 })) if (!seen.has(id)) missing.push(`${type} ${id}`)
      return missing
    },
    async stop() {
      ending.abort()
      await ended
    },
  }
}
export type Follower = ReturnType<typeof startFollower>
