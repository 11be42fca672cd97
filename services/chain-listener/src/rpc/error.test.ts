import { classify, type Refusal, type RpcErrorKind, suggestedBlocks, suggestedCalls, toRpcError } from './error'

/** Refusals as public issues and documentation quote them, and the blocks they suggest. */
const wordings: readonly [provider: string, refusal: Refusal, kind: RpcErrorKind, blocks?: number][] = [
  ['Infura results', { code: -32005, message: 'query returned more than 10000 results' }, 'too_wide'],
  [
    'Infura results with a hint',
    { code: -32005, message: 'query returned more than 10000 results. Try with this block range [0x9E6C6A, 0x9E6CCD].' },
    'too_wide',
    100,
  ],
  ['Infura range', { code: -32602, message: 'range 20001 exceeds limit of 10000' }, 'too_wide', 10_000],
  [
    'Alchemy',
    {
      code: -32602,
      message:
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size. Based on your parameters, this block range should work: [0x0, 0x7cf]',
    },
    'too_wide',
    2_000,
  ],
  [
    'Alchemy free',
    {
      code: -32600,
      message:
        'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x2710, 0x2903]',
    },
    'too_wide',
    500,
  ],
  ['Alchemy busy', { status: 429, code: 429, message: 'Your app has exceeded its compute units per second capacity.' }, 'rate_limited'],
  ['QuickNode', { code: -32614, message: 'eth_getLogs is limited to a 10,000 range' }, 'too_wide', 10_000],
  ['QuickNode free', { code: -32615, message: 'eth_getLogs is limited to a 5 range' }, 'too_wide', 5],
  [
    'QuickNode busy',
    { status: 429, code: -32007, message: '50/second request limit reached - reduce calls per second or upgrade your account' },
    'rate_limited',
  ],
  ['Ankr', { code: -32600, message: 'block range is too wide' }, 'too_wide'],
  ['Ankr blocks', { code: -32602, message: 'maximum [from, to] blocks distance: 1000' }, 'too_wide', 1_000],
  ['Moonbeam', { code: -32603, message: 'block range is too wide (maximum 1024)' }, 'too_wide', 1_024],
  ['Cloudflare', { code: -32047, message: 'Invalid eth_getLogs request. Max range: 800' }, 'too_wide', 800],
  ['PublicNode', { code: -32701, message: 'exceed maximum block range: 50000' }, 'too_wide', 50_000],
  [
    'BlockPI',
    { code: -32602, message: 'eth_getLogs is limited to 1024 block range. Please check the parameter requirements' },
    'too_wide',
    1_024,
  ],
  ['Blast', { code: -32600, message: 'eth_getLogs range exceeds the range allowed for your plan (9000 > 500)' }, 'too_wide', 500],
  ['Chainstack', { code: -32600, message: 'Block range limit exceeded. See more details at the documentation.' }, 'too_wide'],
  ['Coinbase', { code: -32602, message: 'please limit the query to at most 1,000 blocks' }, 'too_wide', 1_000],
  ['Merkle', { code: -32603, message: 'eth_getLogs range is too large, max is 1k blocks' }, 'too_wide', 1_000],
  ['thirdweb', { code: -32000, message: 'Maximum allowed number of requested blocks is 1000' }, 'too_wide', 1_000],
  ['LlamaNodes', { code: -32000, message: 'query exceeds max results 20000, retry with the range 100-200' }, 'too_wide'],
  ['Arbitrum', { code: -32000, message: 'logs matched by query exceeds limit of 10000' }, 'too_wide'],
  ['Optimism', { code: -32020, message: 'backend response too large' }, 'too_wide'],
  ['Base', { code: -32011, message: 'block range too large' }, 'too_wide'],
  ['1RPC', { code: -32001, message: 'response size should not greater than 10000000 bytes' }, 'too_wide'],
  ['Avalanche', { code: -32000, message: 'requested too many blocks from 1 to 9000, maximum is set to 2048' }, 'too_wide', 2_048],
  ['Aurora', { code: -32000, message: 'You can make requests with up to a 2,000 block range' }, 'too_wide', 2_000],
  ['Harmony', { code: -32000, message: 'query must be smaller than size 1024' }, 'too_wide'],
  ['Erigon', { code: -32000, message: 'query timeout exceeded' }, 'too_wide'],
  ['a proxy in between', { status: 413, message: 'Payload Too Large' }, 'too_wide'],
  ['geth head', { code: -32602, message: 'block range extends beyond current head block' }, 'beyond_head'],
  ['geth header', { code: -32000, message: 'header not found' }, 'beyond_head'],
  ['anvil', { code: -32000, message: 'unknown block' }, 'beyond_head'],
  ['reth', { code: -32000, message: 'block not found: 0x12' }, 'beyond_head'],
  ['Avalanche head', { code: -32000, message: 'requested from block 100 after last accepted block 90' }, 'beyond_head'],
  ['plain 429', { status: 429, message: 'Too Many Requests' }, 'rate_limited'],
  ['Infura busy', { code: -32005, message: 'project ID request rate exceeded' }, 'rate_limited'],
  ['Infura day', { code: -32005, message: 'daily request count exceeded, request rate limited' }, 'rate_limited'],
  ['dRPC', { code: -32603, message: 'You have reached the rate limit' }, 'rate_limited'],
  ['bad gateway', { status: 502, message: '<html>Bad Gateway</html>' }, 'unavailable'],
  ['unavailable', { status: 503, message: 'no backend is currently healthy to serve traffic' }, 'unavailable'],
  ['wrong key', { status: 401, message: 'Must be authenticated!' }, 'unavailable'],
  ['Base batch', { code: -32014, message: 'maximum 10 calls in 1 batch' }, 'batch_refused'],
  ['dRPC batch', { status: 500, code: 31, message: 'Batch of more than 3 requests are not allowed on free tier' }, 'batch_refused'],
  ['geth batch', { code: -32600, message: 'batch too large' }, 'batch_refused'],
  ['Nethermind batch', { code: -32005, message: 'Batch size limit exceeded' }, 'batch_refused'],
  ['no batch', { status: 400, message: 'batch requests are not supported' }, 'batch_refused'],
  ['geth state', { code: -32000, message: 'missing trie node 1b2c (path ) state 0x1b2c is not available' }, 'no_history'],
  ['reth state', { code: -32000, message: 'distance to target block exceeds maximum proof window' }, 'no_history'],
  ['Erigon history', { code: -32000, message: 'old data not available due to pruning' }, 'no_history'],
  ['EIP-4444', { code: 4444, message: 'Pruned history unavailable' }, 'no_history'],
  ['a free plan', { code: -32001, message: 'Archive requests require a paid plan' }, 'no_history'],
  ['no such method', { code: -32601, message: 'the method eth_getBlockReceipts does not exist/is not available' }, 'unsupported'],
  ['unforeseen', { code: -32603, message: 'Internal error' }, 'other'],
]

describe('a refusal', () => {
  const cases = wordings.map(([provider, refusal, kind, blocks]) => ({ provider, refusal, kind, blocks }))
  it.each(cases)('of $provider is classified', ({ refusal, kind, blocks }) => {
    expect([classify(refusal), toRpcError(refusal).hints.suggestedBlocks]).toEqual([kind, blocks])
  })

  it('of a batch states how many calls it may have', () => {
    expect(suggestedCalls('maximum 10 calls in 1 batch')).toBe(10)
    expect(suggestedCalls('Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account')).toBe(3)
    expect(suggestedCalls('batch too large')).toBeUndefined()
  })

  it('suggests no blocks when it speaks of something else', () => {
    expect(suggestedBlocks('query returned more than 10000 results')).toBeUndefined()
    expect(suggestedBlocks('this block range should work: [0x20, 0x10]')).toBeUndefined()
  })

  it('is reported with its status, code and how long to wait, cut to a bearable length', () => {
    const error = toRpcError({ status: 429, code: -32005, message: `Too Many Requests ${'x'.repeat(1_000)}` }, { retryAfterMs: 3_000 })
    expect(error).toMatchObject({ kind: 'rate_limited', hints: { retryAfterMs: 3_000 } })
    expect(error.message.length).toBeLessThan(400)
  })
})
