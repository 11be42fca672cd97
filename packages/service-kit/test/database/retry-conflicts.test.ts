import { RetryableError, retryConflicts } from '../../src'

const stale = Object.assign(new Error('stale'), { code: '23502', column: 'version' })

it('decides again while another commit was first', async () => {
  let tries = 0
  const work = async () => {
    tries += 1
    if (tries < 20) throw stale
    return tries
  }
  expect(await retryConflicts(work)).toBe(20)
})

it('gives up after twenty tries, and at once on anything else', async () => {
  let tries = 0
  const failing = (error: Error) => async () => {
    tries += 1
    throw error
  }
  await expect(retryConflicts(failing(stale))).rejects.toThrow(RetryableError)
  expect(tries).toBe(20)
  await expect(retryConflicts(failing(new Error('away')))).rejects.toThrow('away')
  expect(tries).toBe(21)
})
