import { isRefused } from './metrics'

const node = (resting: null | 'unavailable', transfers?: null | 'unsupported') => ({
  resting,
  questions: transfers === undefined ? {} : { transfers: { ms: null, resting: transfers } },
})

it.each([
  ['no node was asked', [node(null)], false],
  ['the only node refuses it', [node(null, 'unsupported')], true],
  ['another one answers it', [node(null, 'unsupported'), node(null, null)], false],
  ['one refuses it and the other rests as a whole', [node(null, 'unsupported'), node('unavailable')], true],
  ['all rest as a whole, which is another alert', [node('unavailable')], false],
  ['there is none', [], false],
])('a question is refused when no node is left to ask: %s', (_, nodes, refused) => {
  expect(isRefused(nodes as Parameters<typeof isRefused>[0], 'transfers')).toBe(refused)
  expect(isRefused(nodes as Parameters<typeof isRefused>[0], 'logs')).toBe(false)
})
