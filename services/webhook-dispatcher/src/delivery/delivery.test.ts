import fc from 'fast-check'
import { afterAttempt, afterLoss, describeFailure, type Outcome, type Progress } from './delivery'

const fresh: Progress = { attempts: 0, losses: 0 }
const failure: Outcome = { kind: 'failed', code: 'http_status', status: 500 }

describe('a delivery after an attempt', () => {
  it('is delivered by success', () => {
    expect(afterAttempt(fresh, { kind: 'delivered', status: 204 })).toEqual({
      status: 'delivered',
      attempts: 1,
      losses: 0,
      delayS: null,
      deadReason: null,
    })
  })

  it('delivery rule 4: waits as the retry schedule states after each failure, and is dead after the seventh', () => {
    const delays: (number | null)[] = []
    let state: Progress & { status: string } = { ...fresh, status: 'pending' }
    while (state.status === 'pending') {
      const verdict = afterAttempt(state, failure)
      delays.push(verdict.delayS)
      state = verdict
    }
    expect(delays).toEqual([60, 300, 1_800, 7_200, 43_200, 86_400, null])
    expect(state).toMatchObject({ status: 'dead', attempts: 7, deadReason: 'attempts_exhausted' })
  })

  it('delivery rule 6: is dead at once, with no attempt counted, when the destination is not allowed', () => {
    expect(afterAttempt(fresh, { kind: 'refused', reason: 'destination_not_allowed' })).toMatchObject({
      status: 'dead',
      attempts: 0,
      deadReason: 'destination_not_allowed',
    })
  })

  it('is pending, with no attempt counted, when the fault is ours', () => {
    expect(afterAttempt({ attempts: 2, losses: 0 }, { kind: 'not_attempted' })).toMatchObject({
      status: 'pending',
      attempts: 2,
      delayS: 60,
    })
  })
})

describe('a delivery whose worker was lost', () => {
  it('is due again at once, and the loss costs none of the seven attempts', () => {
    expect(afterLoss({ attempts: 3, losses: 0 })).toMatchObject({ status: 'pending', attempts: 3, losses: 1, delayS: 0 })
  })

  it('pays with an attempt when it is lost again', () => {
    expect(afterLoss({ attempts: 3, losses: 1 })).toMatchObject({ status: 'pending', attempts: 4, losses: 2, delayS: 7_200 })
  })

  it('cannot loop for ever', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }), lost => {
        let state: Progress & { status: string } = { ...fresh, status: 'pending' }
        let steps = 0
        for (const step of lost) {
          if (state.status !== 'pending') break
          state = step ? afterLoss(state) : afterAttempt(state, failure)
          steps += 1
        }
        return state.status === 'dead' && steps <= 8
      }),
    )
  })
})

describe('what is shown of a failure', () => {
  it('names the status and a piece of the answer', () => {
    expect(describeFailure({ kind: 'failed', code: 'http_status', status: 500, snippet: 'oops' })).toBe('The endpoint answered 500: oops')
  })

  it('is a fixed sentence otherwise', () => {
    expect(describeFailure({ kind: 'failed', code: 'timeout', snippet: 'ignored' })).toBe('The endpoint did not answer within 15 seconds')
  })
})
