import { RpcError } from './error'

/** `ceiling` is the largest size that the node was last known to bear. */
export interface Span {
  blocks: number
  ceiling: number
}

const FIRST_SPAN = 200
const TARGET_BYTES = 2_000_000
const TARGET_MS = 1_500
const RECOVERY = 1.05

/** After an answer: towards a size that takes a moment and little memory; the ceiling recovers slowly. */
export function afterAnswer(span: Span, answer: { count: number; bytes: number; ms: number }, max: number): Span {
  const factor = Math.min(2, Math.max(0.5, TARGET_MS / Math.max(answer.ms, 1)))
  const bearable = Math.ceil((answer.count * TARGET_BYTES) / Math.max(answer.bytes, 1))
  const wanted = Math.min(Math.ceil(span.blocks * factor), Math.max(bearable, Math.floor(span.blocks / 2)))
  const ceiling = Math.min(max, Math.ceil(span.ceiling * RECOVERY))
  return { blocks: Math.max(1, Math.min(wanted, ceiling)), ceiling }
}

/** After a node refused a range as too wide: what it suggested, or half. `undefined` when one block was already too much. */
export function afterTooWide(span: Span, asked: number, suggested?: number): Span | undefined {
  if (asked <= 1) return undefined
  const blocks = Math.max(1, suggested !== undefined && suggested < asked ? suggested : Math.floor(asked / 2))
  return { blocks, ceiling: Math.min(span.ceiling, blocks) }
}

export type RangeLimit = ReturnType<typeof createRangeLimit>

export function createRangeLimit(max: number) {
  let span: Span = { blocks: Math.min(FIRST_SPAN, max), ceiling: max }
  /** Size of the last question that was answered. */
  let answered = span
  return {
    blocks: () => span.blocks,
    grow(answer: { count: number; bytes: number; ms: number }): void {
      span = afterAnswer(span, answer, max)
      answered = span
    },
    /** Answers false when one block alone is refused: then the width was not the reason, and other ranges are asked for as before. */
    shrink(asked: number, error: RpcError): boolean {
      const smaller = afterTooWide(span, asked, error.hints.suggestedBlocks)
      span = smaller ?? answered
      return smaller !== undefined
    },
  }
}

/** Reads a range from its beginning, as far as the node bears: refusals make it shorter, answers longer. Throws what refuses a single block. */
export async function asFarAsBorne<T extends { bytes: number; ms: number }>(
  limit: RangeLimit,
  { from, to }: { from: number; to: number },
  read: (to: number) => Promise<T>,
): Promise<T> {
  for (;;) {
    const end = Math.min(to, from + limit.blocks() - 1)
    try {
      const answer = await read(end)
      limit.grow({ count: end - from + 1, ...answer })
      return answer
    } catch (error) {
      const isTooMuch = error instanceof RpcError && (error.kind === 'too_wide' || error.hints.timedOut === true)
      if (!isTooMuch) throw error
      const isSmaller = limit.shrink(end - from + 1, error)
      // A slow question may be asked again of another node at once, and of this one for less.
      if (!isSmaller || error.kind !== 'too_wide') throw error
    }
  }
}
