import { isIPv6 } from 'node:net'
import { createResolver } from '../../src/send/resolver'
import { createSender } from '../../src/send/sender'
import { KINDS, type Kind } from '../endpoints/kinds'
import { alike, headersOf } from './headers'
import { startCanary, startDns } from './world'

/** Nothing is re-opened here, as in production: a connection to this machine would be counted by the canary, and there must be none. */

type Zone = Parameters<typeof startDns>[0]
// Public when it is first asked, and on this machine ever after.
const rebinding: Zone = (_name, nth) => [{ type: 'A', address: nth === 1 ? '203.0.113.7' : '127.0.0.1' }]
const rebindingHost = (index: number) => `rebinding${index}.example`
const zones: Record<string, Zone> = {
  'private.example': () => [{ type: 'A', address: '127.0.0.1' }],
  'private6.example': () => [{ type: 'AAAA', address: '0:0:0:0:0:0:0:1' }],
  'mapped.example': () => [{ type: 'AAAA', address: '0:0:0:0:0:ffff:7f00:1' }],
  'mixed.example': () => [
    { type: 'A', address: '203.0.113.7' },
    { type: 'A', address: '127.0.0.1' },
  ],
  'mixed46.example': () => [
    { type: 'A', address: '203.0.113.7' },
    { type: 'AAAA', address: '0:0:0:0:0:0:0:1' },
  ],
  'metadata.example': () => [{ type: 'A', address: '169.254.169.254' }],
  'nowhere.example': () => [],
  ...Object.fromEntries(KINDS.map((_, index) => [rebindingHost(index), rebinding])),
}

let canary: Awaited<ReturnType<typeof startCanary>>
let dns: Awaited<ReturnType<typeof startDns>>
let sender: ReturnType<typeof createSender>
beforeAll(async () => {
  canary = await startCanary()
  dns = await startDns((name, nth) => zones[name]?.(name, nth) ?? [])
  sender = createSender({ resolve: createResolver({ servers: [dns.server] }), deadlineMs: 500 })
})
afterAll(async () => {
  await sender.stop()
  await Promise.all([canary.stop(), dns.stop()])
})

const body = Buffer.from('{}')
const sendOnce = async (url: string, kind: Kind) => (await sender.send({ url, body, headers: headersOf(kind, body) })).outcome
/** To each kind of endpoint: none opens what another does not. */
const send = (url: string) => alike(kind => sendOnce(url, kind))
const refused = { kind: 'refused', reason: 'destination_not_allowed' }

describe('delivery rule 6, invariant 6: no connection to this machine', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '017700000001',
    '0',
    '0.0.0.0',
    '１２７.０.０.１',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    'localhost',
    'LocalHost.',
    'any.localhost',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    'private.example',
    'private.example.',
    'PRIVATE.example',
    'private6.example',
    'mapped.example',
    'mixed.example',
    'mixed46.example',
  ])('http and https to %s', async host => {
    expect(await send(`http://${host}:${canary.port}/`)).toEqual(refused)
    expect(await send(`https://${host}:${canary.port}/`)).toEqual(refused)
    expect(canary.connections()).toBe(0)
  })

  it.each([
    'http://user@127.0.0.1',
    'http://203.0.113.7@127.0.0.1',
    'http://203.0.113.7#@127.0.0.1',
    'http://127.0.0.1\\@203.0.113.7',
    'http:127.0.0.1',
  ])('trick of spelling: %s', async prefix => {
    expect(await send(prefix.replace('127.0.0.1', `127.0.0.1:${canary.port}`))).toEqual(
      prefix.startsWith('http://203.0.113.7#') ? expect.objectContaining({ kind: 'failed' }) : refused,
    )
    expect(canary.connections()).toBe(0)
  })

  it.each(['metadata.example', '169.254.169.254', '10.0.0.1', '192.168.1.1', '[fd00:ec2::254]', '[fe80::1]'])(
    'nor inside: %s',
    async host => {
      expect(await send(`http://${host}/`)).toEqual(refused)
    },
  )

  it('a name that changes its mind is asked once per attempt, and what it answers then is what is judged', async () => {
    const outcomes = async (kind: Kind, index: number) => {
      const host = rebindingHost(index)
      // The first answer is public and leads nowhere; nothing is resolved a second time within the attempt.
      expect(await sendOnce(`http://${host}:${canary.port}/`, kind)).toMatchObject({ kind: 'failed' })
      expect(dns.asked(host)).toBe(1)
      expect(await sendOnce(`http://${host}:${canary.port}/`, kind)).toEqual(refused)
      expect(dns.asked(host)).toBe(2)
    }
    await Promise.all(KINDS.map(outcomes))
    expect(canary.connections()).toBe(0)
  })

  it('a name without addresses is a failure to be tried again, not a refusal', async () => {
    expect(await send('http://nowhere.example/')).toEqual({ kind: 'failed', code: 'dns_error' })
  })

  it('the canary sings when a request arrives', async () => {
    await fetch(`http://127.0.0.1:${canary.port}/`).catch(() => undefined)
    expect(canary.connections()).toBe(1)
    expect(isIPv6('::1')).toBe(true)
  })
})
