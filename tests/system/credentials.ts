import { createHmac, randomBytes } from 'node:crypto'
import { createSamplePayer, type System, startWithSandbox } from '@ponte/all-in-one'
import {
  KEY_SCOPES,
  type LinkBody,
  type MerchantBody,
  type OrderBody,
  type RefundClaimBody,
  ROLE_PERMISSIONS,
  ROLES,
  SPECIFIED_KEY_SCOPES,
  type SubscriptionBody,
} from '@ponte/contracts'
import { until, uuidv7 } from '@ponte/service-kit'
import { Wallet } from 'ethers'
import { askGateway, call, createMerchant, logIn, openApiValidator, PAYER, pay, startWorld, type World } from '../world'

// Each credential on every route that the gateway states it has.

let world: World
let system: System
let mine: Awaited<ReturnType<typeof ownerOfThings>>
let theirs: typeof mine
let routes: Route[]
let cases = 0

interface Route {
  method: string
  path: string
  credential: 'apiKey' | 'session' | 'none'
  /** Every credential that it takes: there is a route for each. */
  credentials: string[]
  /** The document's permission; undefined where no merchant is asked for. */
  permission: string | undefined
  hasBody: boolean
  /** A body as the document shows it. */
  example: object | undefined
  /** Some of its query parameters are required. */
  needsQuery: boolean
}

beforeAll(async () => {
  world = await startWorld()
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'Ponte <no-reply@ponte.example>' }
  const payer = createSamplePayer({ chain: world.chain, privateKey: PAYER.privateKey, gatewayUrl: world.place.publicUrl })
  system = await startWithSandbox(world.place, {
    ...{ chain: world.chain, payer },
    logger: world.logger,
    settings: { 'api-gateway': mail },
  })
  mine = await ownerOfThings()
  theirs = await ownerOfThings()
  routes = await documentedRoutes()
})
// On a slow machine the tests take longer than a login is fresh. One that begins in the second in which the others were ended is one of those.
beforeEach(async () => {
  const isTaken = async (owner: typeof mine) => {
    owner.token = await logIn(world, owner)
    return (await askGateway(system.gatewayUrl, '/api/v1/merchants/me', { headers: { Authorization: `Bearer ${owner.token}` } })).ok
  }
  for (const owner of [mine, theirs]) await until(() => isTaken(owner), 'a new login is refused')
})
afterAll(async () => {
  await system?.stop()
  await world?.stop()
  console.info(`credentials: ${routes.length} routes, ${cases} cases of the matrix`)
})

/** A merchant with one of each thing that a path can name. */
async function ownerOfThings() {
  const merchant = await createMerchant(world, system.gatewayUrl)
  const create = (path: string, body?: object) => call<{ id: string }>(system.gatewayUrl, 'POST', path, merchant.api_key, body)
  const order = await create('/api/v1/orders', { brl_amount: '10.00' })
  const subscription = await call<SubscriptionBody>(system.gatewayUrl, 'POST', '/api/v1/subscriptions', merchant.api_key, {
    brl_amount: '10.00',
  })
  const closed = await create('/api/v1/orders', { brl_amount: '10.00' })
  await create(`/api/v1/orders/${closed.id}/cancel`)
  const endpoint = await call<{ id: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/webhook-endpoints', merchant.token, {
    url: world.receiverUrl,
    events: ['order.paid'],
  })
  const changing = await call<MerchantBody>(system.gatewayUrl, 'PATCH', '/api/v1/merchants/me', merchant.token, {
    payout_address: PAYER.address,
  })
  const paid = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', merchant.api_key, { brl_amount: '10.00' })
  await pay(world.chain, paid)
  await system.idle()
  const back = { amount: '0.10', reason: 'It came back' }
  const refund = await create(`/api/v1/orders/${paid.id}/refunds`, { ...back, payee_address: Wallet.createRandom().address })
  const claims = `/api/v1/orders/${paid.id}/refund-claims`
  const claim = await call<RefundClaimBody>(system.gatewayUrl, 'POST', claims, merchant.api_key, { ...back, email: 'payer@ponte.example' })
  const newest = async (what: string) => {
    const list = await call<{ data: { id: string }[] }>(system.gatewayUrl, 'GET', `/api/v1/merchants/me/${what}`, merchant.token)
    return list.data[0]?.id ?? ''
  }
  const exported = await create('/api/v1/exports', { format: 'ofx' })
  const link = await call<LinkBody>(system.gatewayUrl, 'POST', '/api/v1/links', merchant.api_key, {
    ...{ kind: 'invoice', brl_amount: '10.00', description: 'Consulting' },
  })
  const ids: Record<string, string> = {
    orders: order.id,
    attention: closed.id,
    subscriptions: subscription.id,
    refunds: refund.id,
    'refund-claims': claim.id,
    'payer/refunds': claim.url?.split('/').at(-1) ?? '',
    'payer/subscriptions': subscription.payer_url?.split('/').at(-1) ?? '',
    'webhook-endpoints': endpoint.id,
    'payout-changes': changing.pending_payout_change?.id ?? '',
    'waiting-changes': changing.pending_payout_change?.id ?? '',
    events: await newest('events'),
    deliveries: await newest('deliveries'),
    exports: exported.id,
    links: link.id,
    'payer/links': link.url.split('/').at(-1) ?? '',
  }
  const full = await call<{ id: string; api_key: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/api-keys', merchant.token, {
    ...{ name: 'all', scopes: KEY_SCOPES },
  })
  const spare = await call<{ id: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/api-keys', merchant.token, {
    ...{ name: 'to be revoked', scopes: ['orders:read'] },
  })
  const invitation = await call<{ id: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/invitations', merchant.token, {
    ...{ email: 'to-be-revoked@ponte.example', role: 'viewer' },
  })
  const other = await logIn(world, merchant)
  const sessions = await call<{ data: { id: string; is_current: boolean }[] }>(system.gatewayUrl, 'GET', '/api/v1/sessions', other)
  const team = await call<{ data: { id: string }[] }>(system.gatewayUrl, 'GET', '/api/v1/merchants/me/members', merchant.token)
  const named: Record<string, string> = { ...ids, 'api-keys': spare.id, members: team.data[0]?.id ?? '', invitations: invitation.id }
  named.sessions = sessions.data.find(({ is_current }) => is_current)?.id ?? ''
  return { ...merchant, ids: named, full_key: full.api_key }
}

async function documentedRoutes(): Promise<Route[]> {
  const document = (await (await fetch(`${system.gatewayUrl}/openapi.json`)).json()) as {
    paths: Record<
      string,
      Record<
        string,
        {
          security: Record<string, string[]>[]
          requestBody?: { content: Record<string, { example: object }> }
          parameters?: { in: string; required?: boolean }[]
        }
      >
    >
  }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { security, requestBody, parameters = [] }]) =>
      (security.length > 0 ? security : [{ none: [] }]).map(credential => ({
        method: method.toUpperCase(),
        path,
        credential: Object.keys(credential)[0] as Route['credential'],
        credentials: security.flatMap(Object.keys),
        permission: Object.values(credential)[0]?.[0],
        hasBody: requestBody !== undefined,
        example: requestBody?.content['application/json']?.example,
        needsQuery: parameters.some(one => one.in === 'query' && one.required === true),
      })),
    ),
  )
}

/** Asks, and holds the answer against the OpenAPI document too. */
async function ask(route: Route, path: string, authorization: string | undefined, body: object = {}) {
  cases += 1
  const response = await fetch(`${system.gatewayUrl}${path}`, {
    method: route.method,
    headers: {
      ...(authorization === undefined ? {} : { Authorization: authorization }),
      ...(route.hasBody ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(route.hasBody ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(20_000),
  })
  if (response.headers.get('content-type') === 'text/event-stream') {
    await response.body?.cancel()
    return { status: response.status, code: undefined, detail: undefined, faults: [], response }
  }
  const text = await response.text()
  const faults = (await openApiValidator(system.gatewayUrl))({ ...route, path, status: response.status, headers: response.headers, text })
  // A file is no refusal.
  const isFile = response.headers.get('content-type')?.startsWith('text/csv') || (response.ok && route.path.endsWith('/file'))
  const { code, detail } = (isFile ? {} : JSON.parse(text)) as { code?: string; detail?: string }
  return { status: response.status, code, detail, faults, response }
}

const thingIn = ({ path }: Route) => (path.includes('checkout') ? 'orders' : (/\/((?:payer\/)?[\w-]+)\/\{\w+\}/.exec(path)?.[1] ?? ''))
const withId = ({ path }: Route, id: string) => path.replace(/\{\w+\}/, id).replace('{period_index}', '0')
/** Another merchant's does not exist: it is looked for among one's own alone. */
const isPrivate = (route: Route) =>
  ['payout-changes', 'waiting-changes', 'api-keys', 'members', 'invitations', 'sessions', 'exports', 'links'].includes(thingIn(route))
const named = (route: Route) => route.path.includes('{')

/** Every credential that is not the right one, by what it is. */
function wrongCredentials({ credential, credentials }: Route): [what: string, header: string | undefined, code: string][] {
  const isEither = credentials.length > 1
  const invalid = isEither || credential === 'apiKey' ? 'invalid_api_key' : 'invalid_jwt'
  const invalidToken = isEither || credential === 'session' ? 'invalid_jwt' : 'invalid_api_key'
  const otherKind = credential === 'apiKey' ? mine.token : mine.api_key
  const right = credential === 'apiKey' ? mine.full_key : mine.token
  return [
    ['no header', undefined, 'missing_authorization'],
    ...(isEither ? [] : [['the other kind of credential', `Bearer ${otherKind}`, invalid] as [string, string, string]]),
    ['another scheme', `Basic ${Buffer.from(`user:${right}`).toString('base64')}`, invalid],
    ['no scheme', right, invalid],
    ['the scheme alone', 'Bearer', invalid],
    ['garbage', 'Bearer garbage', invalid],
    ['two credentials', `Bearer ${right} ${right}`, invalid],
    ['a key that does not exist', `Bearer sk_live_${randomBytes(32).toString('hex')}`, invalid],
    [
      'the right one with a character changed',
      `Bearer ${right.slice(0, -3)}${right.at(-3) === 'a' ? 'b' : 'a'}${right.slice(-2)}`,
      credential === 'session' ? invalidToken : invalid,
    ],
    ['a token without signature', `Bearer ${unsigned(mine.token)}`, invalidToken],
    ['a token keyed with a guess', `Bearer ${forged(mine.token)}`, invalidToken],
  ]
}

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const unsigned = (token: string) => `${base64({ alg: 'none', typ: 'JWT' })}.${token.split('.')[1]}.`
function forged(token: string): string {
  const head = `${base64({ alg: 'HS256', typ: 'JWT' })}.${token.split('.')[1]}`
  return `${head}.${createHmac('sha256', 'secret').update(head).digest('base64url')}`
}

const right = (route: Route, who = mine) =>
  route.credential === 'none' ? undefined : `Bearer ${route.credential === 'apiKey' ? who.full_key : who.token}`

test('specification, Authentication errors: every route refuses every wrong credential with its code', async () => {
  const wrong: string[] = []
  for (const route of routes) {
    if (route.credential === 'none') continue
    const path = withId(route, mine.ids[thingIn(route)] ?? '')
    const tries = wrongCredentials(route).map(async ([what, header, code]) => {
      const answer = await ask(route, path, header)
      const isChallenged = answer.response.headers.get('www-authenticate') !== null
      if (answer.status !== 401 || answer.code !== code || !isChallenged)
        wrong.push(`${route.method} ${route.path} with ${what}: ${answer.status} ${answer.code}`)
      wrong.push(...answer.faults)
    })
    await Promise.all(tries)
  }
  expect(wrong).toEqual([])
})

test('invariant 8: every route that names a thing is 403 to another merchant, 404 when it does not exist, 400 when it is no id', async () => {
  const wrong: string[] = []
  const expectation: [what: string, id: (route: Route) => string, status: number, code: string][] = [
    ['the thing of another merchant', route => theirs.ids[thingIn(route)] ?? '', 403, 'forbidden'],
    ['a thing that does not exist', () => uuidv7(), 404, 'not_found'],
    [
      'the id of another kind of thing',
      route => mine.ids[thingIn(route) === 'orders' ? 'subscriptions' : 'orders'] ?? '',
      404,
      'not_found',
    ],
    ['what is no id', () => 'abc', 400, 'invalid_request'],
  ]
  for (const route of routes.filter(named)) {
    for (const [what, id, status, code] of expectation) {
      // A payer with the link needs no credential.
      if (route.credential === 'none' && status === 403) continue
      // A body is judged before anything is looked up.
      const answer = await ask(route, withId(route, id(route)), right(route), route.example)
      const isFine = isPrivate(route) && status === 403 ? answer.status === 404 : answer.status === status && answer.code === code
      if (!isFine) wrong.push(`${route.method} ${route.path} with ${what}: ${answer.status} ${answer.code}`)
      wrong.push(...answer.faults)
    }
  }
  expect(wrong).toEqual([])
  const untouched = await call<OrderBody>(system.gatewayUrl, 'GET', `/api/v1/orders/${theirs.ids.orders}`, theirs.api_key)
  expect(untouched.status).toBe('pending')
})

test('with the right credential no route speaks of credentials, and every answer is as documented', async () => {
  const wrong: string[] = []
  // An operation that ends a thing goes last.
  const isLast = ({ method, path }: Route) => Number(method === 'DELETE' || /cancel|rotate-key|end-others/.test(path))
  const inOrder = [...routes].sort((a, b) => isLast(a) - isLast(b))
  for (const route of inOrder) {
    const answer = await ask(route, withId(route, mine.ids[thingIn(route)] ?? ''), right(route))
    // A second merchant, nothing to activate, and bodies or queries that need more than nothing are refused for what they are.
    const isFine =
      answer.status < 300 ||
      (route.hasBody && [400, 409].includes(answer.status)) ||
      (route.needsQuery && answer.status === 400) ||
      answer.code === 'invalid_state' ||
      // The other credential, or the other path, has deleted it a moment ago.
      (route.method === 'DELETE' && route.credentials.length > 1 && answer.code === 'not_found') ||
      // The merchant's own path has cancelled it a moment ago, or this one has.
      (/(payout|waiting)-changes/.test(route.path) && answer.code === 'not_found') ||
      // Nothing of this order needs attention.
      (route.path.includes('/attention/{') && answer.code === 'not_found') ||
      // No period of that number was charged.
      (route.path.includes('{period_index}') && answer.code === 'not_found')
    if (!isFine) wrong.push(`${route.method} ${route.path}: ${answer.status} ${answer.code}`)
    wrong.push(...answer.faults)
  }
  expect(wrong).toEqual([])
})

test('each route names what it needs, and a key without that scope is refused with its name, whatever else it may do', async () => {
  const nameless = routes.filter(route => route.credential !== 'none' && route.permission === undefined).map(({ path }) => path)
  expect(nameless).toEqual([
    '/api/v1/merchants',
    '/api/v1/merchants',
    '/api/v1/invitations/accept',
    '/api/v1/waiting-changes',
    '/api/v1/waiting-changes/{id}/cancel',
    '/api/v1/waiting-changes/{id}/confirm',
    '/api/v1/sessions',
    '/api/v1/sessions/{id}',
    '/api/v1/sessions/end-others',
  ])
  const keys = new Map<string, string>()
  for (const scope of KEY_SCOPES) {
    const body = { name: `all but ${scope}`, scopes: KEY_SCOPES.filter(other => other !== scope) }
    const { api_key } = await call<{ api_key: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/api-keys', mine.token, body)
    keys.set(scope, api_key)
  }
  const wrong: string[] = []
  for (const route of routes.filter(({ credential }) => credential === 'apiKey')) {
    const scope = route.permission ?? ''
    const path = withId(route, mine.ids[thingIn(route)] ?? '')
    const isSpecified = SPECIFIED_KEY_SCOPES.some(specified => specified === scope)
    for (const key of [keys.get(scope), ...(isSpecified ? [] : [theirs.api_key])]) {
      const answer = await ask(route, path, `Bearer ${key}`)
      if (answer.status !== 403 || answer.code !== 'forbidden' || !answer.detail?.includes(scope))
        wrong.push(`${route.method} ${route.path} without ${scope}: ${answer.status} ${answer.detail}`)
      wrong.push(...answer.faults)
    }
  }
  expect(wrong).toEqual([])
})

test('each role may do what its row names, on every route, and is refused with the name of what it lacks', async () => {
  const wrong: string[] = []
  const table: Record<string, string> = {}
  for (const role of ROLES) {
    // A future owner is a viewer for two days.
    const token = role === 'owner' ? theirs.token : await colleague(role)
    let allowed = 0
    for (const route of routes.filter(({ credential, permission }) => credential === 'session' && permission !== undefined)) {
      const mayDo = ROLE_PERMISSIONS[role].some(permission => permission === route.permission)
      // A missing thing is refused as such only to those who may look for it.
      const answer = await ask(route, withId(route, uuidv7()), `Bearer ${token}`)
      const isRefused =
        answer.status === 403 && answer.code === 'forbidden' && answer.detail?.includes(`it needs ${route.permission}`) === true
      if (isRefused === mayDo) wrong.push(`${role}: ${route.method} ${route.path}: ${answer.status} ${answer.code}`)
      wrong.push(...answer.faults)
      allowed += Number(mayDo)
    }
    table[role] = `${allowed} routes`
  }
  expect(wrong).toEqual([])
  console.info(`roles: ${JSON.stringify(table)}`)
})

/** A user who was invited to `theirs` with this role and joined. */
async function colleague(role: string): Promise<string> {
  const email = `${role}-${randomBytes(6).toString('hex')}@ponte.example`
  await world.identity.ensureUser(email, 'a-password-for-tests')
  const access_token = await logIn(world, { email })
  const { token } = await call<{ token: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/invitations', theirs.token, {
    email,
    role,
  })
  const joined = await call<{ role: string }>(system.gatewayUrl, 'POST', '/api/v1/invitations/accept', access_token, { token })
  expect(joined.role).toBe(role)
  return access_token
}

test('a route that is open stays open whatever header comes with it', async () => {
  const wrong: string[] = []
  for (const route of routes.filter(({ credential }) => credential === 'none')) {
    for (const header of [`Bearer ${theirs.api_key}`, 'Bearer garbage', 'Basic x']) {
      const answer = await ask(route, withId(route, theirs.ids[thingIn(route)] ?? ''), header)
      // An empty body is refused for what it lacks, or taken where it may be empty; never refused for who sends it.
      if (!(route.hasBody ? [200, 202, 400] : [200]).includes(answer.status))
        wrong.push(`${route.method} ${route.path} with ${header}: ${answer.status}`)
      wrong.push(...answer.faults)
    }
  }
  expect(wrong).toEqual([])
})

test('a user without a merchant has nothing to see, and a checkout reveals nothing of the merchant but its name', async () => {
  const signUp = await fetch(`${world.place.identity.url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: world.place.identity.publicClientKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'nobody@ponte.example', password: 'a-password-for-tests' }),
  })
  const { access_token } = (await signUp.json()) as { access_token: string }
  const wrong: string[] = []
  for (const route of routes.filter(({ credential, path }) => credential === 'session' && /\/me(\/|$)/.test(path))) {
    const answer = await ask(route, withId(route, mine.ids[thingIn(route)] ?? ''), `Bearer ${access_token}`)
    // A PATCH of nothing is still a question about a merchant.
    if (answer.status !== 404) wrong.push(`${route.method} ${route.path}: ${answer.status} ${answer.code}`)
    wrong.push(...answer.faults)
  }
  expect(wrong).toEqual([])

  const checkout = await (await askGateway(system.gatewayUrl, `/api/v1/checkout/${mine.ids.orders}`)).text()
  for (const secret of [mine.id, mine.api_key, mine.webhook_secret, world.receiverUrl, mine.token]) expect(checkout).not.toContain(secret)
})

test("an owner's own port answers no caller without the gateway's token, and a token ends after 30 seconds", async () => {
  const { signCaller } = await import('@ponte/service-kit')
  const { place } = world
  const owners = [
    [place.ports.orders, '/api/v1/orders', 'orders', place.secrets.ordersTokenSecret],
    [place.ports.subscriptions, '/api/v1/subscriptions', 'subscriptions', place.secrets.subscriptionsTokenSecret],
    [place.ports['webhook-dispatcher'], '/api/v1/events', 'webhook-dispatcher', place.secrets.webhooksTokenSecret],
  ] as const
  const terms = { merchant_id: mine.id, version: 1, display_name: 'x', payout_address: null }
  const caller = { kind: 'merchant', terms }
  for (const [port, path, audience, secret] of owners) {
    const status = async (authorization?: string) =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers: authorization ? { Authorization: authorization } : {} })).status
    expect(await status()).toBe(401)
    expect(await status(`Bearer ${mine.api_key}`)).toBe(401)
    expect(await status(`Bearer ${mine.token}`)).toBe(401)
    const token = signCaller(caller, { secrets: [secret], audience })
    expect(await status(`Bearer ${token}`)).toBe(200)
    expect(await status(`Bearer ${signCaller(caller, { secrets: [secret], audience: 'another' })}`)).toBe(401)
    const { exp, iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(exp - iat).toBe(30)
    const stale = jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 31_000)
    const old = signCaller(caller, { secrets: [secret], audience })
    stale.mockRestore()
    expect(await status(`Bearer ${old}`)).toBe(401)
  }
})
