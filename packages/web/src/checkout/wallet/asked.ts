import type { Provider } from '../../wallet/provider'

const ANSWER_MS = 3_000

/** A wallet's answer; null where it refuses, and undefined where it leaves a question that it does not know unanswered. */
export const asked = (provider: Provider, method: string, params: readonly unknown[] = []): Promise<unknown> =>
  Promise.race([provider.request({ method, params }).catch(() => null), new Promise(resolve => setTimeout(resolve, ANSWER_MS))])
