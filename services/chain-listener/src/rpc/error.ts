/**
 * The remedy of a refusal: ask for less (`too_wide`), in smaller batches (`batch_refused`), another node (`beyond_head`, `no_history`,
 * `unsupported`), later (`rate_limited`, `unavailable`), or distrust the node (`wrong_answer`). `other` is an unforeseen refusal.
 */
export type RpcErrorKind =
  | 'too_wide'
  | 'batch_refused'
  | 'beyond_head'
  | 'no_history'
  | 'unsupported'
  | 'rate_limited'
  | 'unavailable'
  | 'wrong_answer'
  | 'other'

export interface RpcErrorHints {
  suggestedBlocks?: number
  retryAfterMs?: number
  /** Of the answer, where it is an HTTP error. */
  status?: number
  /** The request as a whole was refused, not one call in it. */
  whole?: boolean
  /** HTTP 413, or 500, by which some refuse a request for what it holds. */
  isOfBody?: boolean
  /** The answer was larger than we take. */
  oversize?: boolean
  /** Nothing came in time: too much may have been asked. */
  timedOut?: boolean
}

export class RpcError extends Error {
  override name = 'RpcError'

  constructor(
    readonly kind: RpcErrorKind,
    message: string,
    readonly hints: RpcErrorHints = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause })
  }
}

/** A node's refusal: the HTTP status, the JSON-RPC code and its message. */
export interface Refusal {
  status?: number
  code?: number
  message: string
}

// Wordings of go-ethereum, Nethermind, Besu, Erigon, reth, Alchemy, Infura, QuickNode, Ankr, Chainstack, Blast, BlockPI, Coinbase, Cloudflare,
// dRPC, LlamaNodes, Merkle, PublicNode, thirdweb, 1RPC, and of several chains' own end points, as their users quote them in public issues.
const BEYOND_HEAD = [
  /beyond (the )?(current |latest |chain )?(head|tip)/i,
  /(block|header) not found/i,
  /unknown block/i,
  /(is|are) (greater|higher) than (the )?(latest|current|head)/i,
  /after (the )?(last|latest|head) (accepted )?block/i,
  /(from|to)Block .*(is|are) in the future/i,
  /requested (from|to)? ?block .*(not (yet )?available|exceeds (the )?(latest|head))/i,
]
const RATE_LIMITED = [
  /rate.?limit/i,
  /too many requests/i,
  /(request|compute|call)s?( units?)?( per second)?( rate)?( limit| capacity| quota)? (was |has been |is )?exceeded/i,
  /exceeded (its|your|the) (compute|request|throughput|rate|daily|monthly)/i,
  /throughput/i,
  /(daily|monthly) (request )?(count|limit|quota)/i,
  /capacity (limit|exceeded)/i,
  /slow down/i,
]
const TOO_WIDE = [
  /block range/i,
  /range (is )?too (large|wide|big)/i,
  /range (\d+ )?exceeds/i,
  /\d[\d,.]*k? (block )?range/i,
  /blocks? (range )?distance/i,
  /(more|greater|larger) than [\d,.]+k? (results|logs|blocks|events)/i,
  /exceeds? (the )?(max(imum)?|limit)[^.]*(results|logs|blocks|range|response|size)/i,
  /(logs|results|matched|response)[^.]*exceeds? (the )?(limit|max)/i,
  /(response|result|body|payload|query|backend)[^.]*too (large|big)/i,
  /response size/i,
  /too many (blocks|logs|results|events)/i,
  /max(imum)? (allowed )?(range|number of (requested )?blocks|results)/i,
  /limited to (a )?[\d,.]+k?/i,
  /at most [\d,.]+k? blocks/i,
  /smaller than size/i,
  /query timeout|execution timeout|timeout exceeded|timed out/i,
  /specify (a )?smaller|narrow(er)? (your )?(range|query)/i,
]
const BATCH_REFUSED = [
  /\bbatch[^.]*(max|limit|more than|too (large|big|many|long)|exceed|not (supported|allowed|enabled|permitted)|disabled|size)/i,
  /(max|limit|more than|too (large|big|many)|exceed)[^.]*\bbatch/i,
]
const NO_HISTORY = [
  /missing trie node/i,
  /(state|histor\w*|block|receipts?|logs?|data|trie)[^.]*(\bpruned|(is |are )?(not|no longer) available|unavailable)/i,
  /pruned (history|data|state)/i,
  /no state available/i,
  /archive/i,
  /maximum proof window/i,
]
const UNSUPPORTED = [
  /method[^.]*(not (found|supported|available|exist|allowed|whitelisted)|does not exist|disabled)/i,
  /unsupported method/i,
]
const UNAVAILABLE_STATUS = new Set([401, 403, 404, 408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530])

/** Classifies a refusal. The order matters: a limit of requests also speaks of limits, and a range beyond the head of ranges. */
export function classify(refusal: Refusal): RpcErrorKind {
  const { status, code, message } = refusal
  const matches = (patterns: readonly RegExp[]) => patterns.some(pattern => pattern.test(message))
  if (matches(BATCH_REFUSED) && !/per second/i.test(message)) return 'batch_refused'
  if (status === 413) return 'too_wide'
  if (matches(BEYOND_HEAD)) return 'beyond_head'
  if (status === 429 || code === 429 || code === -32097) return 'rate_limited'
  if (code === -32601 || code === 4444 || matches(UNSUPPORTED)) return code === 4444 ? 'no_history' : 'unsupported'
  if (status === undefined && matches(NO_HISTORY)) return 'no_history'
  if (matches(TOO_WIDE) && !/too many requests|per second/i.test(message)) return 'too_wide'
  if (matches(RATE_LIMITED) || code === -32029) return 'rate_limited'
  if (status !== undefined && UNAVAILABLE_STATUS.has(status)) return 'unavailable'
  // geth's and Infura's «limit exceeded» without a word of what was exceeded: a smaller question is right in either case.
  if (code === -32005) return /limit/i.test(message) ? 'too_wide' : 'rate_limited'
  return 'other'
}

/** The number of calls that a refused batch may have, where the refusal states it. */
export function suggestedCalls(message: string): number | undefined {
  const found = /(?:max(?:imum)?|more than|limit(?:ed)?|up to|at most|exceeds?)[^\d]{0,40}(\d{1,5})\b/i.exec(message)
  return found ? Math.max(1, Number(found[1])) : undefined
}

const HEX_RANGE = /\[\s*0x([0-9a-f]{1,12})\s*,\s*0x([0-9a-f]{1,12})\s*\]/i
const BLOCK_LIMITS = [
  /exceeds limit of ([\d,]+)/i,
  /\(\d+ > ([\d,]+)\)/,
  /(?:limited to|up to|at most|max(?:imum)?(?: is| is set to)?|maximum|range exceeds|greater than|smaller than size)[^\d]{0,50}([\d,]+)(k?)\b/i,
  /(?:is|to|of|range:?) ([\d,]+)(k?)\b(?: ?-?blocks?)?(?: range)?/i,
  /([\d,]+)(k?) blocks?\b/i,
]

/** The number of blocks that a refusal suggests, where it does; results, bytes and seconds are not blocks. */
export function suggestedBlocks(message: string): number | undefined {
  const hex = HEX_RANGE.exec(message)
  if (hex?.[1] !== undefined && hex[2] !== undefined) {
    const blocks = Number.parseInt(hex[2], 16) - Number.parseInt(hex[1], 16) + 1
    return blocks >= 1 ? blocks : undefined
  }
  if (!/block|range/i.test(message) || /\d ?(results|logs|events|bytes|mb|s|ms|seconds)\b|max results/i.test(message)) return undefined
  for (const pattern of BLOCK_LIMITS) {
    const found = pattern.exec(message)
    const digits = found?.[1]?.replaceAll(',', '')
    if (!digits) continue
    const blocks = Number(digits) * (found?.[2] ? 1_000 : 1)
    if (blocks >= 1) return blocks
  }
  return undefined
}

export function toRpcError(
  refusal: Refusal,
  { retryAfterMs, whole }: { retryAfterMs?: number | undefined; whole?: boolean } = {},
): RpcError {
  const kind = classify(refusal)
  const suggestion = kind === 'too_wide' ? suggestedBlocks(refusal.message) : undefined
  const where = refusal.status === undefined ? '' : `HTTP ${refusal.status} `
  return new RpcError(kind, `the node refuses: ${where}${refusal.code ?? ''} ${refusal.message.slice(0, 300)}`, {
    ...(suggestion === undefined ? {} : { suggestedBlocks: suggestion }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(whole ? { whole } : {}),
    ...(refusal.status === undefined ? {} : { status: refusal.status }),
    ...(refusal.status === 413 || refusal.status === 500 ? { isOfBody: true } : {}),
  })
}
