import { newerThan } from './newer-generation'

const made = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'

describe('a generation', () => {
  it('is later than every one that was seen, also where the clock of another was ahead', () => {
    const ahead = 'ffffffff-7b1e-7cc3-9d0e-4f1d2a6b8cff'
    expect(newerThan([], made)).toBe(made)
    expect(newerThan([null, '00000000-0000-7000-8000-000000000000'], made)).toBe(made)
    expect(newerThan([made], made)).toBe('01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c91')
    expect(newerThan([made, ahead], made) > ahead).toBe(true)
  })
})
