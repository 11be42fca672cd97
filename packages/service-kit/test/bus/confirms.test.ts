import { openConfirms } from '../../src/bus/confirms'

describe('publications that wait for the broker', () => {
  it('settles each of two publications of one message by its own answer', async () => {
    const confirms = openConfirms(1_000)
    const answers: ((error?: Error | null) => void)[] = []
    const first = confirms.wait('id', answer => void answers.push(answer))
    const second = confirms.wait('id', answer => void answers.push(answer))
    confirms.refuse('id', new Error('returned'))
    answers[0]?.()
    await expect(first).rejects.toThrow('returned')
    confirms.refuse('id', new Error('returned too'))
    await expect(second).rejects.toThrow('returned too')
    const third = confirms.wait('id', answer => answer(null))
    await expect(third).resolves.toBeUndefined()
  })

  it('rejects when no answer comes in time, and when sending throws', async () => {
    const confirms = openConfirms(5)
    await expect(confirms.wait('late', () => undefined)).rejects.toThrow('did not confirm in time')
    await expect(
      confirms.wait('thrown', () => {
        throw new Error('the channel is closed')
      }),
    ).rejects.toThrow('the channel is closed')
  })
})
