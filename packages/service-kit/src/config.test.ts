import { z } from 'zod'
import { ConfigError, commonSettings, integer, list, readConfig, secret } from './config'

const settings = z.object({
  DATABASE_URL: commonSettings.DATABASE_URL,
  PORT: commonSettings.PORT,
  SWEEP_MS: integer(1, 1000).default(250),
  TOKEN_SECRET: secret,
  URLS: list.default([]),
})
const good = { DATABASE_URL: 'postgres://localhost/x', TOKEN_SECRET: 'x'.repeat(32) }

describe('settings from the environment', () => {
  it('fills in defaults, and counts an empty variable as absent', () => {
    expect(readConfig(settings, { ...good, PORT: '', OTHER: 'ignored' })).toEqual({ ...good, PORT: 8080, SWEEP_MS: 250, URLS: [] })
  })

  it('reads numbers and lists', () => {
    expect(readConfig(settings, { ...good, PORT: '0', SWEEP_MS: '1000', URLS: ' a, b ,,c' })).toMatchObject({
      PORT: 0,
      SWEEP_MS: 1000,
      URLS: ['a', 'b', 'c'],
    })
  })

  it('names every fault at once and never a value', () => {
    const read = () =>
      readConfig(settings, { DATABASE_URL: 'mysql://root:hunter2@db', PORT: '65536', SWEEP_MS: '1.5', TOKEN_SECRET: 'hunter2' })
    expect(read).toThrow(ConfigError)
    const message = messageOf(read)
    for (const name of ['DATABASE_URL', 'PORT', 'SWEEP_MS', 'TOKEN_SECRET']) expect(message).toContain(`  ${name}: `)
    expect(message).not.toContain('hunter2')
  })

  it.each([
    ['PORT', '-1'],
    ['PORT', '8e3'],
    ['PORT', ' 80'],
    ['SWEEP_MS', '0'],
    ['SWEEP_MS', '99999999999999999999'],
    ['TOKEN_SECRET', 'x'.repeat(31)],
  ])('refuses %s=%s', (name, value) => {
    expect(messageOf(() => readConfig(settings, { ...good, [name]: value }))).toContain(`  ${name}: `)
  })
})

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    return String(error)
  }
  return ''
}
