import { type Part, service, until } from './service'

const noting = (log: string[], name: string, more: Partial<Part> = {}): Part => ({
  name,
  start: async () => void log.push(`start ${name}`),
  stop: async () => void log.push(`stop ${name}`),
  ...more,
})

describe('a service, a list of parts', () => {
  it('starts in order and stops in reverse, once', async () => {
    const log: string[] = []
    const made = service('it', [noting(log, 'a'), noting(log, 'b')])
    await made.start()
    await made.stop()
    await made.stop()
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a'])
  })

  it('undoes what was started when a part fails to start', async () => {
    const log: string[] = []
    const failing = noting(log, 'b', { start: () => Promise.reject(new Error('no')) })
    await expect(service('it', [noting(log, 'a'), failing, noting(log, 'c')]).start()).rejects.toThrow('no')
    expect(log).toEqual(['start a', 'stop b', 'stop a'])
  })

  it('stops the others when one cannot stop, and reports it', async () => {
    const log: string[] = []
    const stuck = noting(log, 'b', { stop: () => Promise.reject(new Error('stuck')) })
    const made = service('it', [noting(log, 'a'), stuck, noting(log, 'c')])
    await made.start()
    await expect(made.stop()).rejects.toThrow('stuck')
    expect(log.slice(-2)).toEqual(['stop c', 'stop a'])
  })

  it('starts nothing more when it is stopped while it starts, and leaves nothing running', async () => {
    const log: string[] = []
    let release: () => void = () => undefined
    const slow = noting(log, 'b', {
      start: () =>
        new Promise(resolve => {
          release = () => {
            log.push('start b')
            resolve()
          }
        }),
    })
    const made = service('it', [noting(log, 'a'), slow, noting(log, 'c')])
    const starting = made.start()
    await until(() => log.includes('start a'), 'it did not start')
    const stopping = made.stop()
    release()
    await Promise.all([starting, stopping])
    expect(log).toEqual(['start a', 'start b', 'stop b', 'stop a'])
  })

  it('is idle only when every part is, and names those that are not', async () => {
    let turns = 3
    const made = service('it', [{ name: 'calm' }, { name: 'working', busy: async () => turns-- > 0 }])
    await made.idle()
    expect(turns).toBeLessThan(0)
    const never = service('it', [
      { name: 'calm', busy: () => false },
      { name: 'restless', busy: () => true },
    ])
    await expect(never.idle(20)).rejects.toThrow('it is still busy: restless')
  })
})
