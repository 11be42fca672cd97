import { INTERFACE_VERSION } from '../../openapi/headers'
import { changes } from './changes'

test('the newest entry is the day that answers name, and days go backwards', () => {
  const days = changes.map(({ day }) => day)
  expect(days[0]).toBe(INTERFACE_VERSION)
  expect(days).toEqual([...new Set(days)].sort().reverse())
})
