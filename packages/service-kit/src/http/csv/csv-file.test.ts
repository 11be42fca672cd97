import { csvPage, fieldColumns } from './csv-file'

test('fields become cells under their own names: several values with a blank between them, and nothing for what is not there', () => {
  const columns = fieldColumns(['id', 'count', 'paused', 'payers', 'at', 'reason'])
  const row = { id: '=1', count: 0, paused: false, payers: ['a', 'b'], at: null, other: 'x' }
  expect(columns.map(([name, read]) => [name, read(row)])).toEqual([
    ['id', '=1'],
    ['count', '0'],
    ['paused', 'false'],
    ['payers', 'a b'],
    ['at', null],
    ['reason', null],
  ])
})

test.each([
  ['a full page goes on behind its last row', ['a', 'b'], 2, 'b'],
  ['a shorter page is the last one', ['a'], 2, undefined],
  ['so is an empty one', [], 2, undefined],
])('%s', (_, ids, limit, next) => {
  expect(
    csvPage(
      ids.map(id => ({ id })),
      limit,
    ).next,
  ).toBe(next)
})
