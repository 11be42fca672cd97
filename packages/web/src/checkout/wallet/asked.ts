import type { Provider } from '../../wallet/provider'

const ANSWER_MS = 3_000

/** A wallet's answer; null where it refuses, and undefined where it leaves a question that it does not know unanswered. */
export function asked(provider: Provider, method: string, params: readonly unknown[] = []): Promise<unknown> {
  // A wallet may throw before there is a promise.
  const answer = async () => provider.request({ method, params })
  return Promise.race([answer().catch(() => null), new Promise(resolve => setTimeout(resolve, ANSWER_MS))])
}
