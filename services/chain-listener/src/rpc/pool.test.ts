import { silentLogger } from '@ponte/service-kit'
import { RpcError, toRpcError } from './error'
import { type Node, openNode } from './node'
import { DistrustError, type Nodes, NoNodeError, openNodes, type Question } from './pool'

/** Nodes that are asked nothing over the wire: the work of each question decides what they answer. */
function pool(count: number) {
  let now = 1_000
  const ends = Array.from({ length: count }, (_, index) =>
    openNode('http://127.0.0.1:9', index, { chainId: 31_337, timeoutMs: 1_000, maxBytes: 1_000, rangeMax: 10 }),
  )
  const nodes = openNodes(ends, { clock: () => now, logger: silentLogger, onFailOver: () => undefined })
  opened.push(nodes)
  return {
    nodes,
    after: (ms: number) => {
      now += ms
    },
    answer: (question: Question) => nodes.use(question, async ({ name }) => name),
    refuse: (question: Question, error: () => Error) =>
      nodes.use(question, () => Promise.reject(error())).catch((thrown: unknown) => thrown),
    resting: () => nodes.view().map(({ resting }) => resting),
    of: (question: Question) => nodes.view().map(({ questions }) => questions[question]),
    unanswered: (question: Question) => nodes.unanswered()[question],
  }
}
const opened: Nodes[] = []
afterEach(async () => {
  for (const nodes of opened.splice(0)) await nodes.close()
})

const http = (status: number) => () => toRpcError({ status, message: 'no' }, { whole: true })
const code = (of: number) => () => toRpcError({ code: of, message: 'the method does not exist' })
const noAnswer = () => new RpcError('unavailable', 'no answer: ECONNREFUSED')
const refusals: [string, () => Error][] = [
  ['HTTP 401', http(401)],
  ['HTTP 403', http(403)],
  ['HTTP 429', http(429)],
  ['HTTP 500', http(500)],
  ['HTTP 503', http(503)],
  ['-32601', code(-32601)],
]

describe('a question that every node refuses', () => {
  it.each(refusals)('%s: is unanswered from the first refusal until an answer, and no other is', async (_, refusal) => {
    const { refuse, answer, unanswered, after } = pool(2)
    expect(unanswered('transfers')).toBe(0)
    await refuse('transfers', refusal)
    for (let n = 0; n < 5; n++) {
      after(60_000)
      await answer('head')
      await refuse('transfers', refusal)
    }
    expect(unanswered('transfers')).toBe(300)
    expect([unanswered('head'), unanswered('logs')]).toEqual([0, 0])
    after(61_000)
    await answer('transfers')
    expect(unanswered('transfers')).toBe(0)
  })

  it('one that is asked no more is not waited for', async () => {
    const { refuse, unanswered, after } = pool(1)
    await refuse('state', code(-32601))
    after(100_000)
    expect(unanswered('state')).toBe(100)
    after(100_000)
    expect(unanswered('state')).toBe(0)
  })

  it('names why at each node, and lets none rest for what all refuse', async () => {
    const { refuse, of } = pool(2)
    await refuse('transfers', code(-32601))
    expect(of('transfers')).toEqual([
      { ms: null, resting: null, refused: 'unsupported' },
      { ms: null, resting: null, refused: 'unsupported' },
    ])
  })

  it('a vote that no node answers is unanswered, too', async () => {
    const { nodes, unanswered, after } = pool(2)
    const enough = () => false
    await nodes.vote('headers', () => Promise.reject(noAnswer()), enough)
    after(5_000)
    expect(unanswered('headers')).toBe(5)
    after(60_000)
    await nodes.vote('headers', async () => 1, enough)
    expect(unanswered('headers')).toBe(0)
  })

  it('silence is no answer, although another node was asked beside it', async () => {
    const { nodes } = pool(2)
    expect(nodes.answered()).toEqual({})
    // The first one stays silent for longer than the second one is waited for.
    let end: () => void = () => undefined
    const silent = new Promise<never>((_, reject) => {
      end = () => reject(noAnswer())
    })
    const asked: string[] = []
    const use = nodes.use('head', ({ name }: Node) => {
      asked.push(name)
      if (asked.length === 2) end()
      return asked.length === 1 ? silent : Promise.reject(noAnswer())
    })
    await expect(use).rejects.toThrow(NoNodeError)
    expect([asked.length, nodes.answered()]).toEqual([2, {}])
  })
})

describe('nodes that were outvoted', () => {
  it('are asked while no other one is left, the one first that was outvoted longest ago', async () => {
    const { nodes, answer, after } = pool(3)
    const [first = '', second = '', third = ''] = nodes.view().map(({ name }) => name)
    nodes.distrust(second, 'outvoted', 'another block')
    after(10)
    nodes.distrust(first, 'outvoted', 'another block')
    expect(await answer('blocks')).toBe(third)
    after(10)
    nodes.distrust(third, 'outvoted', 'another block')
    expect(await answer('blocks')).toBe(second)
    after(10)
    nodes.distrust(second, 'outvoted', 'another block')
    expect(await answer('blocks')).toBe(first)
    after(300_000 - 15)
    expect(await answer('blocks')).toBe(first)
  })

  it('are not asked beside one that answers, and none is that is on another chain', async () => {
    const { nodes, answer } = pool(2)
    const [first = '', second = ''] = nodes.view().map(({ name }) => name)
    nodes.distrust(first, 'outvoted', 'another block')
    for (let n = 0; n < 3; n++) expect(await answer('blocks')).toBe(second)
    nodes.distrust(second, 'wrong_chain', 'another chain')
    expect(await answer('blocks')).toBe(first)
  })
})

describe('a node that refuses one kind of question', () => {
  it.each(refusals.slice(0, 5))('%s: rests for that kind alone', async (_, refusal) => {
    const { refuse, answer, resting, of } = pool(1)
    for (const question of ['transfers', 'receipts'] as const) {
      await refuse(question, refusal)
      expect(of(question)[0]?.resting).not.toBeNull()
      expect(await answer('head')).toMatch(/^1:/)
    }
    expect(resting()).toEqual([null])
  })

  it.each(refusals.slice(0, 5))('%s: rests as a whole when it refuses a second kind without an answer between', async (_, refusal) => {
    const { refuse, resting } = pool(1)
    await refuse('transfers', refusal)
    await refuse('transfers', refusal)
    expect(resting()).toEqual([null])
    await refuse('head', refusal)
    expect(resting()).not.toEqual([null])
  })

  it('is left for another one at once, which is asked first from then on', async () => {
    const { nodes, of, resting } = pool(2)
    const asked: string[] = []
    const ask = () =>
      nodes.use('transfers', async ({ name }) => {
        asked.push(name.slice(0, 1))
        if (name.startsWith('1')) throw code(-32601)()
        return name
      })
    await ask()
    await ask()
    expect(asked).toEqual(['1', '2', '2'])
    expect([of('transfers').map(one => one?.resting ?? null), resting()]).toEqual([
      ['unsupported', null],
      [null, null],
    ])
  })

  it.each<[string, () => Error]>([
    ['no connection', noAnswer],
    ['a wrong answer', () => new DistrustError('wrong_answer', 'a lie')],
  ])('%s: rests as a whole at once', async (_, refusal) => {
    const { refuse, resting } = pool(1)
    await refuse('transfers', refusal)
    expect(resting()).not.toEqual([null])
  })

  it('what is too much for it rests for the kinds that it is named for', async () => {
    const { nodes, answer, resting, of } = pool(1)
    const name = nodes.view()[0]?.name ?? ''
    nodes.distrust(name, 'too_wide', 'a block is too full', 'blocks')
    expect([resting(), of('blocks')[0]?.resting]).toEqual([[null], 'too_wide'])
    expect(await answer('head')).toBe(name)
  })
})

describe('an answer of a form that was not thought of', () => {
  it('rests its node, and the next one is asked', async () => {
    const { nodes, of } = pool(2)
    const [first] = nodes.view()
    const read = nodes.use('logs', async ({ name }) => {
      if (name === first?.name) throw new TypeError('cannot convert object to primitive value')
      return name
    })
    expect(await read).toMatch(/^2:/)
    expect(of('logs').map(state => state?.resting)).toEqual(['wrong_answer', null])
  })

  it('that cannot be compared with others has no vote, and takes none from them', async () => {
    const { nodes } = pool(3)
    const [first] = nodes.view()
    const votes = await nodes.vote(
      'headers',
      async ({ name }) => (name === first?.name ? { toString: 1 } : name),
      values => values.map(value => `${value}`).length > 1,
    )
    expect(votes.map(({ node }) => node.name.slice(0, 2)).toSorted()).toEqual(['2:', '3:'])
  })
})

describe('the node in use', () => {
  const inUse = (nodes: Nodes) => nodes.view().find(node => node.in_use)?.name
  class OtherError extends Error {}

  it('is the one that the scan reads from, and no one whom an auditor asked', async () => {
    const { nodes, answer } = pool(2)
    const first = await answer('logs')
    expect(inUse(nodes)).toBe(first)
    const other = nodes.useAnother('logs', () => Promise.reject(new OtherError('it has forked')))
    await expect(other).rejects.toThrow(OtherError)
    expect(inUse(nodes)).toBe(first)
  })

  it('is the one whose answer made the scan stumble', async () => {
    const { nodes } = pool(2)
    const stumbles = nodes.use('logs', () => Promise.reject(new OtherError('it has forked')))
    await expect(stumbles).rejects.toThrow(OtherError)
    expect(inUse(nodes)).toMatch(/^1:/)
  })
})
