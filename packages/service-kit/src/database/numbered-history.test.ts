import fc from 'fast-check'
import { cursorAt, cursorText, type NumberedHistory, resetOf } from './numbered-history'

const history = (newest: number, ...epochs: [first: number, epoch: string][]): NumberedHistory => ({
  newest,
  epochs: epochs.map(([first, epoch]) => ({ first, epoch })),
})

test('a reader goes on at its place as long as that is of the history that it read, however often the server was started again', () => {
  const started = history(12, [1, 'a'], [6, 'b'], [11, 'c'])
  for (const [sequence, epoch] of [
    [0, null],
    [5, 'a'],
    [6, 'b'],
    [10, 'b'],
    [12, 'c'],
  ] as const)
    expect(resetOf(started, { sequence, epoch })).toBeNull()
})

test.each([
  ['nothing has come since', history(7, [1, 'a']), 7],
  ['fewer have come than were lost', history(9, [1, 'a'], [8, 'b']), 7],
  ['as many have come', history(10, [1, 'a'], [8, 'b']), 7],
  ['more have come', history(40, [1, 'a'], [8, 'b'], [30, 'c']), 7],
  ['it began before what was restored', history(40, [1, 'a'], [14, 'b']), null],
] as const)('a reader of ten events whose database went back to seven goes on after the seventh: %s', (_what, restored, expected) => {
  expect(resetOf(restored, { sequence: 10, epoch: 'a' })).toBe(expected)
})

test('an epoch that is not known here has everything read again that is kept', () => {
  expect(resetOf(history(40, [1, 'a'], [14, 'b']), { sequence: 10, epoch: 'lost' })).toBe('everything')
  expect(resetOf(history(40, [1, 'a']), { sequence: 50, epoch: 'lost' })).toBe('everything')
})

test('a number alone is held against the newest, and a row of an epoch that lies ahead of it counts for nothing', () => {
  expect(resetOf(history(7, [1, 'a']), { sequence: 7, epoch: null })).toBeNull()
  expect(resetOf(history(7, [1, 'a']), { sequence: 8, epoch: null })).toBe(7)
  expect(resetOf(history(7, [1, 'a'], [9, 'b']), { sequence: 10, epoch: 'b' })).toBe('everything')
})

test('a cursor names its epoch where one is known', () => {
  expect(cursorText(cursorAt(history(7, [3, 'a']), 5))).toBe('5-a')
  for (const sequence of [0, 2, 8]) expect(cursorText(cursorAt(history(7, [3, 'a']), sequence))).toBe(String(sequence))
})

test('whatever is stored, restarted and restored, and whenever a reader reads: it has read every event that stands', () => {
  const step = fc.record({
    what: fc.constantFrom('store', 'store', 'store', 'read', 'read', 'start', 'keep', 'restore', 'undo'),
    pick: fc.nat(30),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), steps => {
      type Copy = { epochs: { first: number; epoch: string }[]; events: string[] }
      let live: Copy = { epochs: [], events: [] }
      let [server, made] = [0, 0]
      const copies: Copy[] = [{ epochs: [], events: [] }]
      let cursor: { sequence: number; epoch: string | null } = { sequence: 0, epoch: null }
      const read = new Set<string>()
      const copy = ({ epochs, events }: Copy): Copy => ({ epochs: [...epochs], events: [...events] })
      const now = () => ({ epochs: live.epochs, newest: live.events.length })
      const readTo = (limit: number) => {
        const reset = resetOf(now(), cursor)
        const from = reset === 'everything' ? 0 : (reset ?? cursor.sequence)
        const page = live.events.slice(from, from + limit)
        for (const event of page) read.add(event)
        cursor = cursorAt(now(), from + page.length)
      }
      for (const { what, pick } of [...steps, { what: 'read', pick: 1_000 }]) {
        if (what === 'store') {
          if (live.epochs.at(-1)?.epoch !== `server ${server}`)
            live.epochs.push({ first: live.events.length + 1, epoch: `server ${server}` })
          live.events.push(`event ${++made}`)
        }
        if (what === 'start') server += 1
        if (what === 'keep') copies.push(copy(live))
        if (what === 'restore' || what === 'undo') {
          const before = copy(live)
          live = copy(copies[pick % copies.length] ?? before)
          if (what === 'undo') copies.push(before)
          server += 1
        }
        if (what === 'read') readTo(pick)
      }
      expect(live.events.filter(event => !read.has(event))).toEqual([])
    }),
  )
})
