import { delayAfter, MAX_ATTEMPTS } from './retry-schedule'

describe('Retry schedule', () => {
  it.each([
    [1, 0],
    [2, 60],
    [3, 300],
    [4, 1_800],
    [5, 7_200],
    [6, 43_200],
    [7, 86_400],
  ])('attempt %i comes %i seconds after the one before it', (attempt, seconds) => {
    expect(delayAfter(attempt - 1)).toBe(seconds)
  })

  it('has seven attempts; the eighth step is death', () => {
    expect(MAX_ATTEMPTS).toBe(7)
    expect(delayAfter(7)).toBeUndefined()
  })
})
