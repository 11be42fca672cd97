import { randomUUID } from 'node:crypto'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import {
  isKeyed,
  KEY_SCOPES,
  MERCHANT_HEADER,
  type Method,
  type Operation,
  type OperationId,
  operationList,
  pathWith,
  placesOf,
  ROLES,
} from '@ponte/contracts'
import { createRandom } from '@ponte/service-kit/testing'
import { type BaseWallet, Wallet } from 'ethers'
import { settleAccounts, type TestGateway } from '../world'
import { endpointsOwner } from '../world/endpoints'
import { ANY_ID, type Recipe, recipes, type Scene } from '../world/recipes'
import { oracle } from './oracle'

const HOUR = 3_600_000
const HONEST = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const STEPS = 20
export const THIEVES = [
  ...(['stale session', 'fresh session', 'stolen mail', 'stolen key'] as const),
  ...ROLES.map(role => `insider ${role}` as const),
  'insider owner with a fresh session',
] as const
export type Thief = (typeof THIEVES)[number]

type Reached = 'session' | 'api_key'
const ACCOUNT = ['Merchant', 'Keys', 'Members', 'Endpoints', 'Sessions']
// A live deployment has no sandbox.
const reachedBy = (credential: Reached) =>
  operationList.filter(([, { credentials, owner }]) => owner !== 'sandbox' && credentials.includes(credential))
/** What a thief can ask for, by either credential; and what of it concerns the account. */
export const MOVES = { session: reachedBy('session'), api_key: reachedBy('api_key') }
const ofAccount = (moves: typeof operationList) => moves.filter(([, { tag }]) => ACCOUNT.includes(tag))
export const ACCOUNT_MOVES = { session: ofAccount(MOVES.session), api_key: ofAccount(MOVES.api_key) }
/** Of owners and payout addresses. */
const ofOwners = (moves: typeof operationList) => moves.filter(([, { waits, permission }]) => waits || permission === 'payout:write')
const OWNER_MOVES = { session: ofOwners(MOVES.session), api_key: ACCOUNT_MOVES.api_key }

/** What a thief who got so far would do next; the second of two owners agrees with the first. */
const THEN: Partial<Record<OperationId, { id: OperationId; isByAnother: boolean }>> = {
  createInvitation: { id: 'acceptInvitation', isByAnother: false },
  updateMerchant: { id: 'approvePayoutChange', isByAnother: true },
  approvePayoutChange: { id: 'signPayoutChange', isByAnother: false },
  removeMember: { id: 'confirmWaitingChange', isByAnother: true },
  updateMember: { id: 'confirmWaitingChange', isByAnother: true },
}

interface User {
  sub: string
  email: string
}
/** One login of a user at the identity provider. */
interface Login {
  user: User
  sessionId: string
  atMs: number
  method: string
}
interface Answer {
  status: number
  text: string
  requestId: string
  // biome-ignore lint/suspicious/noExplicitAny: the body of any operation
  body: any
}
interface Sent {
  method: Method
  path: string
  body?: object | undefined
  headers?: Record<string, string> | undefined
}
/** What the thief asks with, and for whom it counts. */
interface Hand {
  by: string
  kind: Reached
  credential: string
  /** Names the merchant of the victims in each request. */
  isNaming: boolean
}

export interface World {
  system: TestGateway
  at: { ms: number }
  /** The same function each time. */
  now: () => Date
}
export interface Played {
  violations: string[]
  /** How often each operation was asked for, and how often it succeeded. */
  asked: Map<OperationId, { times: number; done: number }>
}

/** Whether anything that waits has its time: most looks at it find nothing. */
const DUE = `
  SELECT 1 FROM merchants WHERE frozen_at IS NULL AND owner_changes_activate_at <= $1
  UNION ALL SELECT 1 FROM merchants WHERE frozen_at IS NULL AND pending_payout_activates_at <= $1 LIMIT 1`

// A connection is closed by neither side before the next request of it.
const agent = new Agent({ keepAlive: true, keepAliveMsecs: 1_000 })

let users = 0
const newUser = (name: string): User => {
  users += 1
  return { sub: `${name} ${users}`, email: `${name}-${users}@ponte.example` }
}

/** One thief plays moves from the table of operations against the gateway; the owners look within a day at what they were informed of. */
export async function play({ system, at, now }: World, thief: Thief, seed: number): Promise<Played> {
  const { pick, below } = createRandom(seed)
  const wallet: BaseWallet = new Wallet(`0x${(seed + 1).toString(16).padStart(64, '7')}`)
  const asked: Played['asked'] = new Map()
  const endpoints = endpointsOwner((req, res) => {
    res.status(req.method === 'POST' ? 201 : 200).json({ id: ANY_ID, url: req.originalUrl })
  })
  system.owners.webhooks.answers(endpoints.handler)
  for (const { received } of [...Object.values(system.owners), { received: system.published }]) received.length = 0

  const send = async (credential: string, { method, path, body, headers = {} }: Sent): Promise<Answer> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      request(`${system.url}${path}`, {
        agent,
        method: method.toUpperCase(),
        headers: { Authorization: `Bearer ${credential}`, ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
      })
        .on('response', resolve)
        .on('error', reject)
        .end(body && JSON.stringify(body)),
    )
    const text = await textOf(answer)
    const isJson = answer.headers['content-type']?.includes('json')
    return {
      status: answer.statusCode ?? 0,
      text,
      requestId: String(answer.headers['x-request-id']),
      body: isJson ? JSON.parse(text) : null,
    }
  }
  const logIn = (user: User, method = 'password'): Login => ({ user, sessionId: randomUUID(), atMs: at.ms, method })
  const tokens = new Map<string, string>()
  const tokenOf = ({ user, sessionId, atMs, method }: Login) => {
    const [issued, amr] = [`${sessionId} ${at.ms}`, [{ method, timestamp: Math.floor(atMs / 1000) }]]
    const token = tokens.get(issued) ?? system.identity.sign({ ...user, email_verified: true, session_id: sessionId, amr })
    tokens.set(issued, token)
    return token
  }
  const API = '/api/v1'
  const ME = `${API}/merchants/me`
  /** An honest user asks by a session, and what they ask for succeeds. */
  const done = async (login: Login, sent: Sent) => {
    const answer = await send(tokenOf(login), sent)
    if (answer.status >= 300) throw new Error(`${sent.method} ${sent.path} of an honest user: ${answer.text}`)
    return answer.body
  }

  // The victims: one to three owners, an admin, a colleague who is invited, an endpoint and keys.
  const founder = newUser('owner')
  const sessions = new Map<string, Login>([[founder.sub, logIn(founder)]])
  const sessionOf = (user: User) => sessions.get(user.sub) ?? logIn(user)
  const merchant = await done(sessionOf(founder), {
    ...{ method: 'post', path: `${API}/merchants`, body: { display_name: 'Padaria', payout_address: HONEST } },
  })
  const merchantId: string = merchant.id
  const invite = (user: User, role: string) =>
    done(sessionOf(founder), { method: 'post', path: `${ME}/invitations`, body: { email: user.email, role } })
  // The mail of an only owner is the account: there is no other one who is informed.
  const size = thief === 'stolen mail' ? 2 + below(2) : 1 + below(3)
  const owners = [founder, ...Array.from({ length: size - 1 }, () => newUser('owner'))]
  const insider = thief.startsWith('insider ') ? newUser('insider') : null
  // As they stand when all have joined, and what the last of them held up is over.
  const team = [
    ...owners.slice(1).map(user => ({ user, role: 'owner' })),
    { user: newUser('admin'), role: 'admin' },
    ...(insider ? [{ user: insider, role: thief.split(' ')[1] ?? '' }] : []),
  ]
  await system.sql.query(
    `INSERT INTO members (id, merchant_id, user_id, email, role, created_at)
     SELECT gen_random_uuid(), $1, given.sub, given.email, given.role, $2 FROM unnest($3::text[], $4::text[], $5::text[]) AS given (sub, email, role)`,
    [merchantId, now(), team.map(({ user }) => user.sub), team.map(({ user }) => user.email), team.map(({ role }) => role)],
  )
  for (const { user } of team) sessions.set(user.sub, logIn(user))
  at.ms += 272 * HOUR
  sessions.set(founder.sub, logIn(founder))
  const known: Sent[] = [
    { method: 'post', path: `${ME}/api-keys`, body: { name: 'ERP', scopes: KEY_SCOPES }, headers: { 'Idempotency-Key': 'erp' } },
    {
      ...{ method: 'post', path: `${ME}/webhook-endpoints`, headers: { 'Idempotency-Key': 'erp' } },
      body: { url: 'https://erp.example.com/ponte', events: ['*'] },
    },
  ]
  const [named] = await Promise.all(known.map(sent => done(sessionOf(founder), sent)))
  const stolenKey = below(4) === 0 ? merchant.api_key : named.api_key
  const victim = pick(owners)
  const expected = newUser('colleague')
  // As an owner only beside three: who holds two of three owners may put out the third, as any two who agree.
  const theirs = await invite(expected, pick(size > 2 ? ROLES : ROLES.filter(role => role !== 'owner')))

  const judge = await oracle(system.sql, { merchantId, owners: owners.map(({ sub }) => sub), thiefAddress: wallet.address })
  const { violations } = judge
  /** Each owner who was informed of something, and when they look. */
  const looks = new Map<User, number>()
  const isInformed = () => {
    for (const owner of owners)
      if (!looks.has(owner) && !(thief === 'stolen mail' && owner === victim)) looks.set(owner, at.ms + 2_000 + below(24 * HOUR - 2_000))
  }

  // The thief: logins, accomplices with accounts of their own, and whatever was seen on the way.
  const accomplices: User[] = thief === 'stolen mail' ? [expected] : []
  const invitations: { token: string; invitee: User }[] = thief === 'stolen mail' ? [{ token: theirs.token, invitee: expected }] : []
  const repeatable: Sent[] = [...known]
  /** Accomplices who are members. */
  const joined: User[] = []
  let last: { hand: Hand; id: OperationId; sent: Sent } | null = null
  const hasSession = thief.endsWith('session') || thief === 'stolen mail'
  let held: Login | null = hasSession ? steal() : null
  at.ms += 2 * HOUR

  function steal(): Login {
    if (thief === 'stale session') return sessionOf(victim)
    return logIn(victim, thief === 'stolen mail' ? 'recovery' : 'password')
  }
  /** Who has the password logs in when the time has passed, or their session was ended. */
  const fresh = (user: User): Hand => {
    const known = logins.get(user.sub)
    const hand =
      known?.atMs === at.ms ? known.hand : { by: user.sub, kind: 'session' as const, credential: tokenOf(logIn(user)), isNaming: true }
    logins.set(user.sub, { atMs: at.ms, hand })
    return hand
  }
  const logins = new Map<string, { atMs: number; hand: Hand }>()
  const hands = (): Hand[] => {
    if (thief === 'stolen key') return [{ by: 'a key', kind: 'api_key', credential: stolenKey, isNaming: false }]
    const own = joined.slice(-2).map(fresh)
    if (held && held.atMs !== at.ms && thief !== 'stale session' && below(2) === 0) held = steal()
    const by = thief === 'stale session' ? 'an old session' : victim.sub
    const stolen: Hand[] = held ? [{ by, kind: 'session', credential: tokenOf(held), isNaming: below(2) === 0 }] : []
    return [...stolen, ...stolen, ...(insider ? [fresh(insider)] : []), ...own]
  }
  const rows = async (sql: string): Promise<string[]> => (await system.sql.query(sql, [merchantId])).rows.map(row => String(row.id))
  /** Ids that a path can be about. */
  const IDS: Readonly<Record<string, () => Promise<string[]>>> = {
    members: () => rows('SELECT id FROM members WHERE merchant_id = $1'),
    invitations: () => rows('SELECT id FROM invitations WHERE merchant_id = $1'),
    'api-keys': () => rows('SELECT id FROM named_keys WHERE merchant_id = $1'),
    sessions: () => rows('SELECT s.id FROM sessions s JOIN members m USING (user_id) WHERE merchant_id = $1'),
    'payout-changes': () => rows(`SELECT pending_payout->>'id' AS id FROM merchants WHERE id = $1 AND pending_payout IS NOT NULL`),
    'waiting-changes': () =>
      rows(`
      SELECT jsonb_array_elements(owner_changes)->>'id' AS id FROM merchants WHERE id = $1 AND owner_changes IS NOT NULL
      UNION SELECT pending_payout->>'id' FROM merchants WHERE id = $1 AND pending_payout IS NOT NULL`),
    'webhook-endpoints': async () => endpoints.idsOf(merchantId),
  }
  const idFor = async ({ path }: Pick<Operation, 'path'>) => {
    if (!path.includes('/:id')) return ANY_ID
    const ids = (await IDS[path.split('/:id')[0]?.split('/').at(-1) ?? '']?.()) ?? []
    return ids.length > 0 ? pick(ids) : ANY_ID
  }
  /** What a thief would rather ask for than what a recipe prepares. */
  const wishes: Partial<Record<OperationId, () => Promise<Recipe>>> = {
    createMerchant: async () => ({ body: { display_name: 'Padaria', payout_address: wallet.address } }),
    updateMerchant: async () => ({
      body: pick<object>([
        ...[{ payout_address: wallet.address }, { payout_address: wallet.address }, { payout_address: HONEST }, { payout_address: null }],
        ...[{ webhook_url: 'https://thief.example/hook' }, { display_name: 'Padaria Nova' }],
      ]),
    }),
    async signPayoutChange() {
      const { rows: found } = await system.sql.query('SELECT pending_payout FROM merchants WHERE id = $1', [merchantId])
      const { body } = await send(tokenOf(held ?? logIn(insider ?? victim)), { method: 'get', path: `${ME}?secrets=hidden` })
      const id = found[0]?.pending_payout?.id ?? ANY_ID
      return { params: { id }, body: { signature: await wallet.signMessage(String(body?.pending_payout_change?.message)) } }
    },
    updateMember: async () => ({ body: { role: pick(ROLES) } }),
    createInvitation: async () => ({ body: { email: newAccomplice().email, role: pick(ROLES) } }),
    acceptInvitation: async () => ({ body: { token: invitations.at(-1)?.token ?? 'inv_none' } }),
    createApiKey: async () => ({ body: { name: 'mine', scopes: [pick(KEY_SCOPES)] } }),
    // Of what waits already.
    ...Object.fromEntries(
      (['approvePayoutChange', 'cancelWaitingChange', 'confirmWaitingChange'] as const).map(id => [id, async () => ({})]),
    ),
  }
  const newAccomplice = () => {
    const user = newUser('accomplice')
    accomplices.push(user)
    return user
  }

  /** Judged and remembered as an answer to the thief. */
  const answered = async (hand: Hand, name: string, sent: Sent, isAboutVictims = true): Promise<Answer> => {
    const answer = await send(hand.credential, sent)
    const invitee = accomplices.find(({ email }) => email === answer.body?.email)
    if (answer.status < 300 && invitee && answer.body.token) invitations.push({ token: answer.body.token, invitee })
    if (isAboutVictims && (await judge.answer(hand.by, name, answer))) isInformed()
    if (answer.status === 401 && logins.get(hand.by)?.hand === hand) logins.delete(hand.by)
    else if (answer.status === 401 && held && hand.credential !== stolenKey) held = null
    return answer
  }
  const move = async (preferred?: OperationId) => {
    // The stolen session was ended; it is stolen again at times.
    if (hasSession && !held && (thief === 'stolen mail' || below(4) === 0)) {
      const again = steal()
      // An owner who looks has just logged in: that session is no old one yet.
      if (thief !== 'stale session' || again.atMs <= at.ms - HOUR) held = again
    }
    const available = hands()
    if (available.length === 0) return
    const next = last && below(3) > 0 ? THEN[last.id] : undefined
    const others = available.filter(({ by }) => by !== last?.hand.by)
    const hand = next?.isByAnother && others.length > 0 ? pick(others) : pick(available)
    const kind = !preferred && hand.kind === 'api_key' && below(6) === 0 ? 'session' : hand.kind
    const naming = hand.isNaming ? { [MERCHANT_HEADER]: merchantId } : {}
    if (!preferred && below(10) === 0) {
      const again = pick(repeatable)
      return void (await answered(hand, `a repeated ${again.path}`, { ...again, headers: { ...again.headers, ...naming } }))
    }
    if (!preferred && last && below(8) === 0) return void (await answered(last.hand, last.id, last.sent, last.id !== 'createMerchant'))
    if (!preferred && below(12) === 0 && hand.kind === 'session') return trap(hand)
    const [id, operation] =
      MOVES[kind].find(([name]) => name === (preferred ?? next?.id)) ??
      pick(pick([MOVES, ACCOUNT_MOVES, ACCOUNT_MOVES, OWNER_MOVES, OWNER_MOVES])[kind])
    const scene: Scene = {
      ask: async (method, path, body) => (await answered(hand, path, { method, path, body, headers: naming })).body ?? {},
      ...{ wallet, payoutWallet: wallet, memberId: () => idFor({ path: '/members/:id' }) },
      get invitee() {
        return newAccomplice().email
      },
    }
    const prepared = recipes[id]
    const ways = [wishes[id], wishes[id], prepared && (() => prepared(scene))].filter(way => way !== undefined)
    const recipe: Recipe = ways.length > 0 ? await pick(ways)() : {}
    // Who accepts an invitation is the one who was invited.
    const invited = id === 'acceptInvitation' && kind === 'session' ? invitations.at(-1) : undefined
    const asking = invited ? fresh(invited.invitee) : hand
    const params = { id: await idFor(operation), period_index: '0', ...recipe.params }
    const path = placesOf(operation).find(({ credentials }) => credentials.includes(kind))?.path ?? operation.path
    const body = recipe.body ?? operation.example
    const keyed = isKeyed(operation) && below(2) === 0 ? { 'Idempotency-Key': pick(['erp', 'mine']) } : {}
    const sent: Sent = { method: operation.method, path: pathWith(path, params), ...(body && operation.method !== 'get' ? { body } : {}) }
    const headers = { ...keyed, ...naming }
    const isOwn = id === 'createMerchant'
    last = { hand: asking, id, sent: { ...sent, headers } }
    const answer = await answered(asking, id, last.sent, !isOwn)
    if (invited && answer.status < 300) joined.push(invited.invitee)
    if ('Idempotency-Key' in keyed && answer.status < 300) repeatable.push({ ...sent, headers: keyed })
    const count = asked.get(id) ?? { times: 0, done: 0 }
    asked.set(id, { times: count.times + 1, done: count.done + (answer.status < 300 ? 1 : 0) })
  }
  /** A merchant of the thief's own, and the victim made a member of it. */
  const trap = async (hand: Hand) => {
    const maker = tokenOf(logIn(newUser('maker')))
    const own = { display_name: 'Padaria', payout_address: wallet.address }
    await send(maker, { method: 'post', path: `${API}/merchants`, body: own })
    const { body } = await send(maker, { method: 'post', path: `${ME}/invitations`, body: { email: victim.email, role: pick(ROLES) } })
    await answered(hand, 'acceptInvitation', { method: 'post', path: `${API}/invitations/accept`, body: { token: body.token } }, false)
  }

  /** An owner logs in, cancels what they did not ask for, and puts out who does not belong there. */
  const react = async (owner: User) => {
    const refused = (what: string, { status, text }: Answer) => {
      judge.violated(`${owner.sub} logged in and could not ${what}: ${status} ${text.slice(0, 120)}`)
    }
    let login = logIn(owner)
    sessions.set(owner.sub, login)
    /** A session that a fresh thief ended meanwhile is begun anew; an old one ends none. */
    const ask = async (what: string, sent: Sent, allowed: readonly number[] = []): Promise<Answer> => {
      const answer = await send(tokenOf(login), { ...sent, headers: { [MERCHANT_HEADER]: merchantId } })
      if (answer.status === 401) {
        if (thief === 'stale session') judge.violated(`an old session ended the one of ${owner.sub}`)
        at.ms += 1_000
        login = logIn(owner)
        sessions.set(owner.sub, login)
        const again = await send(tokenOf(login), { ...sent, headers: { [MERCHANT_HEADER]: merchantId } })
        if (again.status >= 300 && !allowed.includes(again.status)) refused(what, again)
        return again
      }
      if (answer.status >= 300 && !allowed.includes(answer.status)) refused(what, answer)
      return answer
    }
    const mine = await send(tokenOf(login), { method: 'get', path: `${ME}?secrets=hidden` })
    judge.store(owner.sub, mine)
    const { body: waiting } = await ask('see what waits', { method: 'get', path: `${API}/waiting-changes` })
    if (below(4) === 0) await move(below(2) === 0 ? 'endOtherSessions' : undefined)
    for (const { id, merchant_id, email, may_cancel } of waiting?.data ?? []) {
      if (merchant_id !== merchantId || email === expected.email) continue
      const isOut = email === owner.email
      if (!may_cancel && !isOut) judge.violated(`${owner.sub} may not cancel a change of ${email}`)
      // Cancelled meanwhile, or confirmed by another owner, who can be asked to cancel it.
      const path = `${API}/waiting-changes/${id}/cancel`
      if (may_cancel) await ask('cancel', { method: 'post', path }, isOut ? [403, 404] : [404])
    }
    if (invitations.length > 0) {
      const { body: invited } = await ask('see invitations', { method: 'get', path: `${ME}/invitations` })
      for (const { id, accepted_at, revoked_at, email } of invited?.data ?? [])
        if (!accepted_at && !revoked_at && email !== expected.email)
          await ask('revoke an invitation', { method: 'delete', path: `${ME}/invitations/${id}` })
    }
    if (joined.length > 0) {
      const { body: members } = await ask('see members', { method: 'get', path: `${ME}/members` })
      for (const { id, user_id, role } of members?.data ?? [])
        if (role !== 'owner' && user_id.startsWith('accomplice'))
          await ask('remove a stranger', { method: 'delete', path: `${ME}/members/${id}` }, [404, 409])
    }
    if (mine.body?.payout_address === null)
      await ask('set the payout address again', { method: 'patch', path: ME, body: { payout_address: HONEST } })
    if (below(3) === 0) await ask('end other sessions', { method: 'post', path: `${API}/sessions/end-others` })
  }
  const settle = async () => {
    const { rows: due } = await system.sql.query(DUE, [now()])
    if (due.length === 0) return
    await settleAccounts(system, now)
    await judge.merchant()
  }
  const pass = async (ms: number) => {
    const end = at.ms + ms
    while (at.ms < end && violations.size === 0) {
      at.ms = Math.max(at.ms, Math.min(end, ...looks.values()))
      await settle()
      for (const [owner, look] of looks)
        if (look <= at.ms) {
          looks.delete(owner)
          await react(owner)
        }
    }
  }

  // Some steps take the operations in turn, so that none is left out.
  const isOfKey = thief === 'stolen key'
  const inTurn = MOVES[isOfKey ? 'api_key' : 'session']
  for (let step = 0; step < STEPS && violations.size === 0; step++) {
    const turn = Math.floor(seed / THIEVES.length) * STEPS + step + seed
    await move((isOfKey ? step >= STEPS / 2 : step % 4 === 3) ? inTurn[turn % inTurn.length]?.[0] : undefined)
    if (below(2) === 0) await pass(pick([1, 5, 24, 47, 80]) * HOUR)
  }
  await pass(200 * HOUR)
  for (const owner of owners) judge.store(owner.sub, await send(tokenOf(logIn(owner)), { method: 'get', path: `${ME}?secrets=hidden` }))
  await judge.merchant()
  await judge.published()
  for (const { received } of Object.values(system.owners))
    for (const { caller } of received) {
      const { terms } = Object(caller)
      if (terms?.merchant_id === merchantId && terms.payout_address === wallet.address) judge.violated('an order would pay the thief')
    }
  return { violations: [...violations].map(violation => `${thief}: ${violation}`), asked }
}
