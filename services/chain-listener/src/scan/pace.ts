import type { Logger } from '@ponte/service-kit'
import type { RpcError } from '../rpc/error'
import { afterAnswer, afterTooWide, type Span } from './plan'

const FIRST_SPAN = 200

/** How many blocks are asked for at once. */
export function createPace(rangeMax: number, logger: Logger) {
  let span: Span = { blocks: Math.min(FIRST_SPAN, rangeMax), ceiling: rangeMax }
  /** What was asked for when the last answer came. */
  let answered = span
  return {
    blocks: () => span.blocks,
    grow(answer: { count: number; bytes: number; ms: number }): void {
      span = afterAnswer(span, answer, rangeMax)
      answered = span
    },
    /** Answers false when one block alone is refused: then the width was not the reason, and other ranges are asked for as before. */
    shrink(error: RpcError): boolean {
      const smaller = afterTooWide(span, span.blocks, error.hints.suggestedBlocks)
      if (!smaller) {
        span = answered
        return false
      }
      span = smaller
      logger.info('the range was too wide; asking for less', { blocks: span.blocks, detail: error.message })
      return true
    },
  }
}
