import { remember, remembered } from './memory'

const kept = new Map<string, string>()
const working = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, text: string) => void kept.set(key, text),
  removeItem: (key: string) => void kept.delete(key),
}
const refuse = () => {
  throw new Error('QuotaExceededError')
}
const provide = (localStorage: object | undefined) =>
  Object.defineProperty(globalThis, 'localStorage', { value: localStorage, configurable: true })
afterAll(() => Reflect.deleteProperty(globalThis, 'localStorage'))

test.each([
  ['without storage', undefined],
  ['whose storage refuses everything', { getItem: refuse, setItem: refuse, removeItem: refuse }],
  ['whose storage is full', { ...working, setItem: refuse }],
  ['that keeps it', working],
])('a browser %s remembers until the page is left, and forgets when it is asked to', (name, storage) => {
  provide(storage)
  expect(remembered(name)).toBeNull()
  remember(name, 'sent')
  expect(remembered(name)).toBe('sent')
  remember(name, 'sent again')
  expect(remembered(name)).toBe('sent again')
  remember(name, null)
  expect(remembered(name)).toBeNull()
})

test('what a full storage does not take stands before what it took earlier, and is forgotten with it', () => {
  provide(working)
  remember('a', 'sent')
  expect(kept.get('a')).toBe('sent')
  provide({ ...working, setItem: refuse })
  remember('a', 'mined')
  expect(remembered('a')).toBe('mined')
  provide({ ...working, removeItem: refuse })
  remember('a', null)
  expect(remembered('a')).toBeNull()
})
