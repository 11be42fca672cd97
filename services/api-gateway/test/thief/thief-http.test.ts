import { KEY_SCOPES, ROLES } from '@ponte/contracts'
import { Wallet } from 'ethers'
import request from 'supertest'
import { bearer, newMerchant, settleAccounts, startGateway, type TestGateway } from '../world'
import { type Random, randomOf } from './random'

// The thief of thief.ts against the real gateway: fewer sequences, and the same oracle, which knows the database alone.

const HOUR = 3_600_000
const HONEST = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const THIEVES = [
  ...(['stale session', 'fresh session', 'stolen mail', 'stolen key'] as const),
  ...ROLES.map(role => `insider ${role}` as const),
  'insider owner with a fresh session',
] as const
type Thief = (typeof THIEVES)[number]
const SEQUENCES = Number(process.env.PONTE_THIEF_SEQUENCES ?? 20)
const STEPS = 14
const SECRET = /(?:whsec_|sk_live_)[0-9a-f]{64}/g

const at = { ms: Date.parse('2026-11-20T12:00:00.000Z') }
let system: TestGateway
beforeAll(async () => {
  const unlimited = {
    RATE_LIMIT_CHANGES_PER_MINUTE: '1000000',
    RATE_LIMIT_CALLER_PER_MINUTE: '1000000',
    RATE_LIMIT_ADDRESS_PER_MINUTE: '1000000',
  }
  system = await startGateway(unlimited, { now: () => new Date(at.ms) })
})
afterAll(() => system.stop())

interface User {
  sub: string
  email: string
}
let users = 0
const newUser = (name: string): User => {
  users += 1
  return { sub: `${name} ${users}`, email: `${name}-${users}@ponte.example` }
}
const token = (user: User, isFresh = true) =>
  system.identity.sign({ ...user, email_verified: true, amr: [{ method: 'password', timestamp: at.ms / 1000 - (isFresh ? 0 : 7_200) }] })
type Method = 'get' | 'post' | 'patch' | 'delete'
const ask = async (credential: string, method: Method, path: string, body?: object) => {
  const asked = request(system.url)[method](`/api/v1${path}`).set(bearer(credential))
  return body ? await asked.send(body) : await asked
}

async function shop(random: Random) {
  const founder = newUser('owner')
  const { merchant } = await newMerchant(system, { display_name: 'Padaria', payout_address: HONEST }, founder.sub)
  const merchantId = String(merchant.id)
  const join = async (user: User, role: string) => {
    const { body } = await ask(token(founder), 'post', '/merchants/me/invitations', { email: user.email, role })
    await ask(token(user), 'post', '/invitations/accept', { token: body.token })
  }
  const owners = [founder]
  for (let n = random.below(2); n > 0; n--) {
    const other = newUser('owner')
    await join(other, 'owner')
    owners.push(other)
  }
  for (const role of ['admin', 'viewer']) await join(newUser(role), role)
  return { merchantId, owners, join, founder }
}

async function play(thief: Thief, random: Random) {
  const { merchantId, owners, join, founder } = await shop(random)
  const { pick, below } = random
  const insider = thief.startsWith('insider ') ? newUser('insider') : null
  if (insider) await join(insider, thief.split(' ')[1] ?? '')
  at.ms += 48 * HOUR
  for (let n = 0; n < 3; n++) await settleAccounts(system, () => new Date(at.ms))
  at.ms += 80 * HOUR
  const { body: stolen } = await ask(token(founder), 'post', '/merchants/me/api-keys', { name: 'stolen', scopes: KEY_SCOPES })
  const wallet = Wallet.createRandom()
  const hasSession = !insider || thief.endsWith('session')
  const victim = hasSession ? pick(owners) : insider
  const accomplices: User[] = []
  const invitations: string[] = []
  const looks = new Map<User, number>()
  const violations: string[] = []
  const done: string[] = []

  const members = async (): Promise<{ id: string; user_id: string; role: string }[]> =>
    (await ask(token(founder, false), 'get', '/merchants/me/members')).body.data ?? []
  const waiting = async (credential: string): Promise<{ id: string; type: string }[]> =>
    (await ask(credential, 'get', '/waiting-changes')).body.data ?? []
  const judge = async () => {
    const { rows } = await system.sql.query('SELECT payout_address FROM merchants WHERE id = $1', [merchantId])
    if (rows[0]?.payout_address === wallet.address) violations.push(`${thief}: the address of the thief is in force`)
    const { rows: there } = await system.sql.query("SELECT user_id FROM members WHERE merchant_id = $1 AND role = 'owner'", [merchantId])
    for (const { sub } of owners) if (!there.some(row => row.user_id === sub)) violations.push(`${thief}: ${sub} is no owner any more`)
  }
  /** An owner undoes what they did not do, by an old session as far as it goes. */
  const react = async (owner: User) => {
    const [old, fresh] = [token(owner, false), token(owner)]
    for (const { id } of await waiting(old)) await ask(old, 'post', `/waiting-changes/${id}/cancel`)
    for (const { id, accepted_at } of (await ask(old, 'get', '/merchants/me/invitations')).body.data ?? [])
      if (!accepted_at) await ask(old, 'delete', `/merchants/me/invitations/${id}`)
    for (const { id, user_id, role } of await members())
      if (role !== 'owner' && accomplices.some(({ sub }) => sub === user_id)) await ask(fresh, 'delete', `/merchants/me/members/${id}`)
    if ((await ask(old, 'get', '/merchants/me')).body.payout_address === null)
      await ask(fresh, 'patch', '/merchants/me', { payout_address: HONEST })
  }
  const pass = async (ms: number) => {
    const end = at.ms + ms
    while (at.ms < end) {
      at.ms = Math.min(end, ...looks.values())
      await settleAccounts(system, () => new Date(at.ms))
      await judge()
      for (const [owner, look] of looks)
        if (look <= at.ms) {
          looks.delete(owner)
          await react(owner)
        }
    }
  }
  const credentials = (): { of: string; credential: string }[] => {
    const own = accomplices.map(user => ({ of: user.sub, credential: token(user) }))
    if (thief === 'stolen key') return [{ of: `api_key:${stolen.id}`, credential: stolen.api_key }]
    const also = insider && hasSession ? [{ of: insider.sub, credential: token(insider) }] : []
    return [{ of: victim.sub, credential: token(victim, thief !== 'stale session') }, ...also, ...own]
  }
  const target = async () => pick(await members()).id
  const ME = '/merchants/me'
  const moves: Record<string, (credential: string) => Promise<{ status: number; body: Record<string, unknown>; text: string }>> = {
    async invite(credential) {
      const accomplice = newUser('accomplice')
      const answer = await ask(credential, 'post', `${ME}/invitations`, { email: accomplice.email, role: pick(ROLES) })
      if (answer.status !== 201) return answer
      accomplices.push(accomplice)
      invitations.push(answer.body.token)
      return answer
    },
    async join() {
      const user = accomplices.at(-1)
      return ask(token(user ?? newUser('nobody')), 'post', '/invitations/accept', { token: invitations.at(-1) ?? 'inv_' })
    },
    setRole: async credential => ask(credential, 'patch', `${ME}/members/${await target()}`, { role: pick(ROLES) }),
    remove: async credential => ask(credential, 'delete', `${ME}/members/${await target()}`),
    payout: credential => ask(credential, 'patch', ME, { payout_address: pick([wallet.address, wallet.address, HONEST, null]) }),
    async sign(credential) {
      const { body } = await ask(credential, 'get', `${ME}?secrets=hidden`)
      const change = body.pending_payout_change
      const signature = await wallet.signMessage(String(change?.message))
      return ask(credential, 'post', `${ME}/payout-changes/${change?.id}/sign`, { signature })
    },
    async approve(credential) {
      const { body } = await ask(credential, 'get', `${ME}?secrets=hidden`)
      return ask(credential, 'post', `${ME}/payout-changes/${body.pending_payout_change?.id}/approve`)
    },
    async undo(credential) {
      const changes = await waiting(credential)
      return ask(credential, 'post', `/waiting-changes/${changes.length > 0 ? pick(changes).id : wallet.address}/cancel`)
    },
    async confirm(credential) {
      const changes = await waiting(credential)
      return ask(credential, 'post', `/waiting-changes/${changes.length > 0 ? pick(changes).id : wallet.address}/confirm`)
    },
    look: credential => ask(credential, 'get', ME),
    makeKey: credential => ask(credential, 'post', `${ME}/api-keys`, { name: 'mine', scopes: [pick(KEY_SCOPES)] }),
    rotateKey: credential => ask(credential, 'post', `${ME}/rotate-key`),
    rotateSecret: credential => ask(credential, 'post', `${ME}/rotate-webhook-secret`),
    activateSecret: credential => ask(credential, 'post', `${ME}/activate-webhook-secret`),
  }
  for (let step = 0; step < STEPS && violations.length === 0; step++) {
    const name = done.at(-1) === 'invite' && below(2) === 0 ? 'join' : pick(Object.keys(moves))
    const { of, credential } = pick(credentials())
    const answer = await moves[name]?.(credential)
    if (answer && answer.status < 300) {
      done.push(name)
      for (const owner of owners) if (!looks.has(owner)) looks.set(owner, at.ms + 1 + below(24 * HOUR - 2))
    }
    for (const secret of answer?.text.match(SECRET) ?? []) {
      const { rows } = await system.sql.query('SELECT action FROM audit_log WHERE merchant_id = $1 AND user_id = $2 AND at >= $3', [
        merchantId,
        of,
        new Date(at.ms - 300_000),
      ])
      if (!rows.some(({ action }) => /secret|key/.test(action)))
        violations.push(`${thief}: ${secret.slice(0, 8)}… was read unseen by ${name}`)
      if (thief === 'stale session' && of === victim.sub) violations.push(`${thief}: an old session read a secret by ${name}`)
    }
    await judge()
    if (below(2) === 0) await pass(pick([1, 5, 24, 47, 80]) * HOUR)
  }
  await pass(200 * HOUR)
  return { violations, done }
}

test(`in ${SEQUENCES} sequences over HTTP no thief is paid, no owner is out, and no secret is read unseen`, async () => {
  const done = new Map<string, number>()
  const violations: string[] = []
  for (let seed = 0; seed < SEQUENCES; seed++) {
    const played = await play(THIEVES[seed % THIEVES.length] ?? 'fresh session', randomOf(seed))
    violations.push(...played.violations.map(violation => `seed ${seed}: ${violation}`))
    for (const name of played.done) done.set(name, (done.get(name) ?? 0) + 1)
  }
  expect(violations).toEqual([])
  for (const move of ['invite', 'join', 'setRole', 'remove', 'payout', 'look', 'makeKey', 'rotateSecret'])
    expect([move, (done.get(move) ?? 0) > 0]).toEqual([move, true])
}, 240_000)
