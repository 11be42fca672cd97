import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AttentionItemBody, List, OrderBody, RecoveryBody, RefundBody } from '@ponte/contracts'
import { freePort, mined, requireProgram, startHttpServer, testAccounts } from '@ponte/local-servers'
import { deployContracts, testUsdcAbi } from '@ponte/payment-router'
import { until } from '@ponte/service-kit'
import { Contract, hexlify, randomBytes, Wallet } from 'ethers'
import ts from 'typescript'
import { call, createMerchant, PAYER, pay, runSystem, system, units, world } from '../../world'
import { type Block, blocksOf, guides, writePrograms } from './blocks'

// Every program of the guides, taken out of the pages that a gateway serves and run against it.

const root = join(__dirname, '../../..')
const WHY = 'the test of the programs that /docs shows'

let folder: string
let foreignToken: Contract
let blocks: Block[]
const interpreters: Record<string, string> = { ts: process.execPath }
const ran = new Set<string>()
const children: ChildProcess[] = []
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})
runSystem({ merchant: false })
beforeAll(async () => {
  interpreters.py = await requireProgram('python3', 'python3', WHY)
  interpreters.php = await requireProgram('php', 'php-cli', WHY)
  interpreters.go = await requireProgram('go', 'golang-go', WHY)
  folder = mkdtempSync(join(tmpdir(), 'ponte-guides-'))
  blocks = (await Promise.all(guides.map(page => blocksOf(system.gatewayUrl, page)))).flat()
  for (const page of guides) writePrograms(join(folder, page), blocks, page)
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: join(root, 'packages/sdk'), stdio: 'pipe' })
  const tarball = readdirSync(folder).find(name => name.endsWith('.tgz')) ?? ''
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball)], { cwd: folder, stdio: 'pipe' })
  const stranger = world.chain.wallet(testAccounts[7].privateKey)
  const { usdcAddress } = await deployContracts(stranger, { feeBps: 100, feeReceiver: stranger.address })
  foreignToken = new Contract(usdcAddress, testUsdcAbi, stranger)
}, 300_000)

type Settings = Record<string, string>
const WAIT_MS = 60_000

/** Starts a program of a page, with its folder as the present one. */
function start(page: string, file: string, args: string[], settings: Settings) {
  const [name = '', end = ''] = file.split('.')
  ran.add(`${page}/${file}`)
  for (const imported of importsOf(page, file)) ran.add(imported)
  const here = join(folder, page)
  const command: Record<string, string[]> = {
    php: name === 'webhook' ? ['-S', `127.0.0.1:${settings.PORT}`, file] : [file, ...args],
  }
  if (end === 'go')
    execFileSync(interpreters.go ?? '', ['build', '-o', 'receiver', file], {
      ...{ cwd: here, stdio: 'pipe' },
      env: { PATH: process.env.PATH, HOME: folder },
    })
  const program = end === 'go' ? join(here, 'receiver') : (interpreters[end] ?? '')
  const env = { PATH: process.env.PATH, HOME: folder, PONTE_URL: system.gatewayUrl, ...settings }
  const child = spawn(program, command[end] ?? (end === 'go' ? [] : [file, ...args]), {
    ...{ cwd: here, env, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  children.push(child)
  const found = { output: '', errors: '', child }
  child.stdout.on('data', chunk => (found.output += chunk))
  child.stderr.on('data', chunk => (found.errors += chunk))
  return found
}

/** Modules that a program of the page imports, such as the client of the quickstart. */
function importsOf(page: string, file: string): string[] {
  const text = readFileSync(join(folder, page, file), 'utf8')
  const end = file.split('.')[1]
  const named = [...text.matchAll(/from '\.\/(\w+)\.ts'|^from (ponte|address) import|__DIR__ \. '\/(\w+)\.php'/gm)]
  return named.map(([, inTs, inPython, inPhp]) => {
    const name = `${inTs ?? inPython ?? inPhp}.${end}`
    return `${blocks.some(block => block.page === page && block.file === name) ? page : 'quickstart'}/${name}`
  })
}

async function run(page: string, file: string, args: string[], settings: Settings) {
  const found = start(page, file, args, settings)
  const [code] = await once(found.child, 'close', { signal: AbortSignal.timeout(WAIT_MS) })
  return { code: code as number, output: found.output.trim(), errors: found.errors }
}

/** The output of a program that succeeds. */
async function outputOf(page: string, file: string, args: string[], settings: Settings): Promise<string> {
  const { code, output, errors } = await run(page, file, args, settings)
  if (code !== 0) throw new Error(`${page}/${file} ended with ${code}: ${errors}${output}`)
  return output
}

test('the TypeScript is strict', () => {
  const sources = blocks.filter(({ kind }) => kind === 'ts').map(({ page, file }) => join(folder, page, file ?? ''))
  const compiled = ts.createProgram([...new Set(sources)], {
    ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    ...{ allowImportingTsExtensions: true, erasableSyntaxOnly: true, types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
    ...{ lib: ['lib.es2023.d.ts'], moduleDetection: ts.ModuleDetectionKind.Force },
  })
  const faults = ts.getPreEmitDiagnostics(compiled).filter(({ file }) => file?.fileName.startsWith(folder))
  expect(faults.map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)).toEqual([])
})

describe.each(['ts', 'py', 'php'])('in .%s', end => {
  let wallet: Wallet
  let merchant: Awaited<ReturnType<typeof createMerchant>>
  let all: Settings
  beforeAll(async () => {
    wallet = new Wallet(Wallet.createRandom().privateKey)
    merchant = await createMerchant(world, system.gatewayUrl, world.receiverUrl, wallet.address)
    all = { PONTE_API_KEY: merchant.api_key, PONTE_WEBHOOK_SECRET: merchant.webhook_secret }
    // Blocks count whole seconds: one of the second in which the merchant was made is of before them.
    await until(async () => {
      await world.chain.mine()
      return ((await world.chain.provider.getBlock('latest'))?.timestamp ?? 0) * 1_000 > Date.parse(merchant.created_at)
    }, 'the chain has no later second')
  })

  const ask = <T>(method: string, path: string, body?: object) =>
    call<T>(system.gatewayUrl, method, `/api/v1${path}`, merchant.api_key, body)
  const newOrder = async (body: object = {}): Promise<OrderBody> => {
    const order = await ask<OrderBody>('POST', '/orders', { brl_amount: '54.20', ...body })
    await system.idle()
    return order
  }
  const shown = ({ id }: OrderBody) => ask<OrderBody>('GET', `/orders/${id}`)
  const paidOrder = async (extra = 0n, body: object = {}) => {
    const order = await newOrder(body)
    const receipt = await pay(world.chain, order, units(order.usdc_amount) + extra)
    await until(async () => Number((await shown(order)).received) > 0, 'it is not confirmed')
    await system.idle()
    return { ...order, hash: receipt.hash }
  }
  /** A named key with the scopes that /docs/production lists for such a program. */
  const keyFor = async (program: string): Promise<Settings> => {
    const html = await (await fetch(`${system.gatewayUrl}/docs/production`)).text()
    const cell = new RegExp(`<td>${program}</td><td>(.*?)</td>`).exec(html)?.[1] ?? ''
    const scopes = [...cell.matchAll(/<code>(.*?)<\/code>/g)].map(([, scope]) => scope)
    const { api_key } = await call<{ api_key: string }>(system.gatewayUrl, 'POST', '/api/v1/merchants/me/api-keys', merchant.token, {
      ...{ name: program, scopes },
    })
    return { PONTE_API_KEY: api_key }
  }

  test('an order is made once, by the key of a shop', async () => {
    const shop = await keyFor('Shop that creates orders and reads them')
    const link = await outputOf('quickstart', `order.${end}`, [], shop)
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/pay\/[0-9a-f-]{36}$/)
    expect(await outputOf('quickstart', `order.${end}`, [], shop)).toBe(link)
    const [order] = (await ask<List<OrderBody>>('GET', '/orders?external_ref=INV-7')).data
    expect(order).toMatchObject({ brl_amount: '150.00', payment: { checkout_url: link } })
  })

  test('the client sends a request again that had no answer, and ends with the reason of a refusal', async () => {
    const requests: unknown[] = []
    const server = await startHttpServer((request, response) => {
      requests.push([request.method, request.url, request.headers['idempotency-key']])
      if (requests.length === 1) return request.socket.destroy()
      const refused = { code: 'payout_address_required', detail: 'Set one.', status: 422, title: '', type: '', request_id: 'r' }
      const status = requests.length === 2 ? 503 : 422
      return response.writeHead(status, { 'Content-Type': 'application/problem+json', 'Retry-After': '0' }).end(JSON.stringify(refused))
    })
    const { code, errors, output } = await run('quickstart', `order.${end}`, [], { ...all, PONTE_URL: server.url })
    await server.stop()
    expect(code).not.toBe(0)
    expect(`${errors}${output}`).toContain('payout_address_required')
    expect(requests).toEqual(Array.from({ length: 3 }, () => ['POST', '/api/v1/orders', 'INV-7']))
  })

  test('a checkout is shown only where the money ends at the address of the own configuration', async () => {
    const own = { ...all, PONTE_PAYOUT_ADDRESS: wallet.address, PONTE_ROUTER: world.chain.routerAddress }
    expect(await outputOf('payments', `checked-order.${end}`, [], own)).toContain('/pay/')
    for (const other of [{ PONTE_PAYOUT_ADDRESS: PAYER.address }, { PONTE_ROUTER: PAYER.address }]) {
      const { code, output, errors } = await run('payments', `checked-order.${end}`, [], { ...own, ...other })
      expect({ code, output }).toEqual({ code: 1, output: '' })
      expect(errors).toContain('address_mismatch')
    }
    // One that tells the truth of the first network alone.
    const { payment: first, ...order } = await newOrder()
    let there: object = first
    const server = await startHttpServer((_, response) =>
      response
        .writeHead(201, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ ...order, payment: { ...first, networks: [first, there] } })),
    )
    const asked = { ...own, PONTE_URL: server.url }
    expect(await outputOf('payments', `checked-order.${end}`, [], asked)).toContain('/pay/')
    for (const lie of [{ deposit_address: PAYER.address }, { router_address: PAYER.address }, { merchant_address: PAYER.address }]) {
      there = { ...first, chain_id: first.chain_id + 1, ...lie }
      const { code, errors } = await run('payments', `checked-order.${end}`, [], asked)
      expect({ code, names: errors.includes('address_mismatch') }).toEqual({ code: 1, names: true })
    }
    await server.stop()
    if (end !== 'ts') return
    const driver = "import { depositAddress } from './address.ts'\nconsole.log(depositAddress(JSON.parse(process.argv[2])))"
    writeFileSync(join(folder, 'payments/driver.ts'), driver)
    const { memo, payment } = (await ask<List<OrderBody>>('GET', '/orders?external_ref=INV-8')).data[0] ?? (await newOrder())
    const terms = { router: world.chain.routerAddress, memo, payoutAddress: wallet.address }
    expect(await outputOf('payments', 'driver.ts', [JSON.stringify(terms)], {})).toBe(payment.deposit_address?.toLowerCase())
    ran.delete('payments/driver.ts')
  })

  test.each(['quickstart', 'webhooks', ...(end === 'ts' ? ['webhooks in Go'] : [])])(
    'the receiver of %s takes a real webhook, and what send-webhook sends',
    async where => {
      const [page = '', , other] = where.split(' ')
      const port = await freePort()
      const url = `http://127.0.0.1:${port}/webhooks`
      const owner = await createMerchant(world, system.gatewayUrl, url, Wallet.createRandom().address)
      world.receiver.trust(merchant.webhook_secret)
      const settings = { PORT: String(port), PONTE_WEBHOOK_SECRET: owner.webhook_secret }
      const receiver = start(page, `webhook.${other ? 'go' : end}`, [], settings)
      await until(
        () =>
          fetch(url, { method: 'POST', body: '{}' }).then(
            ({ status }) => status === 401,
            () => false,
          ),
        () => `it does not listen: ${receiver.errors}`,
        WAIT_MS,
      )
      const sent = await outputOf('testing', `send-webhook.${end}`, [url], settings)
      expect(sent).toBe('signed 200 again 200 forged 401')
      const order = await call<OrderBody>(system.gatewayUrl, 'POST', '/api/v1/orders', owner.api_key, { brl_amount: '10.00' })
      await system.idle()
      await pay(world.chain, order)
      const printed = () => receiver.output + receiver.errors
      await until(
        () => printed().includes(`order.paid ${order.id}`),
        () => `no verified webhook: ${printed()}`,
        WAIT_MS,
      )
      receiver.child.kill('SIGKILL')
    },
    180_000,
  )

  test('a signature by the old or the new secret is taken', async () => {
    const drivers: Record<string, string> = {
      ts: "import { eventOf } from './signature.ts'\nconsole.log((await eventOf(Buffer.from(process.argv[2]), process.argv[3])).type)",
      py: 'import sys\nfrom signature import event_of\nprint(event_of(sys.argv[1].encode(), sys.argv[2])["type"])',
      php: "<?php require __DIR__ . '/signature.php'; echo event_of($argv[1], $argv[2])['type'];",
    }
    writeFileSync(join(folder, 'webhooks', `driver.${end}`), drivers[end] ?? '')
    const { id } = await newOrder()
    await ask('POST', `/orders/${id}/cancel`)
    await until(() => world.receiver.received.some(({ body }) => body.includes(id)), 'nothing was delivered')
    const delivered = world.receiver.received.find(({ body }) => body.includes(id))
    const body = delivered?.body ?? ''
    const signatureOf = String(delivered?.headers['x-service-signature'])
    const secret = merchant.webhook_secret
    const verify = (settings: Settings) => run('webhooks', `driver.${end}`, [body, signatureOf], settings)
    const type = JSON.parse(body).type
    const settings = { PONTE_WEBHOOK_SECRET: 'whsec_old', PONTE_WEBHOOK_SECRET_NEW: secret }
    expect(await verify(settings)).toMatchObject({ code: 0, output: type })
    expect(await verify({ PONTE_WEBHOOK_SECRET: secret })).toMatchObject({ code: 0, output: type })
    expect((await verify({ PONTE_WEBHOOK_SECRET: 'whsec_old' })).code).not.toBe(0)
    ran.delete(`webhooks/driver.${end}`)
    ran.add(`webhooks/signature.${end}`)
  })

  test('the invoice is compared before the goods leave', async () => {
    const order = await paidOrder(0n, { external_ref: 'INV-9' })
    expect(await outputOf('production', `ship.${end}`, [order.id, 'INV-9', '54.20'], all)).toBe('ship INV-9')
    for (const other of [
      ['INV-8', '54.20'],
      ['INV-9', '54.21'],
    ])
      expect(await run('production', `ship.${end}`, [order.id, ...other], all)).toMatchObject({ code: 1, output: '' })
  })

  test('events are pulled once each, also after a restart', async () => {
    const pulls = await keyFor('Program that pulls events')
    /** With its event in the list: those of the programs before are there already. */
    const cancelled = async () => {
      await ask('POST', `/orders/${(await newOrder()).id}/cancel`)
      await system.idle()
    }
    await cancelled()
    const cursorFile = join(folder, 'production/cursor.txt')
    rmSync(cursorFile, { force: true })
    /** Until the cursor of the last event is kept: what dies before that gets the event again. */
    const pull = async () => {
      const newest = (await ask<List<{ sequence: number }>>('GET', '/events?limit=1')).data[0]?.sequence
      const program = start('production', `events.${end}`, [], pulls)
      const lines = () => program.output.trim().split('\n')
      await until(
        () =>
          lines().at(-1)?.startsWith(`${newest} `) === true &&
          existsSync(cursorFile) &&
          readFileSync(cursorFile, 'utf8').startsWith(`${newest}-`),
        () => `no event ${newest}, or no cursor: ${program.output}${program.errors}`,
        WAIT_MS,
      )
      program.child.kill('SIGKILL')
      await once(program.child, 'close')
      return lines()
    }
    const first = await pull()
    await cancelled()
    expect(await pull()).toEqual([`${Number.parseInt(first.at(-1) ?? '', 10) + 1} order.cancelled`])
  })

  test('the monitor, the list and the refund of a surplus, which a wallet signs', async () => {
    const monitor = await keyFor('Monitor')
    expect(await run('production', `watch.${end}`, [], monitor)).toMatchObject({ code: 0, output: '' })
    const order = await paidOrder(1_000_000n)
    const watched = await run('production', `watch.${end}`, [], monitor)
    expect(watched).toMatchObject({ code: 1, output: `money overpaid 1.000000 ${order.id}` })
    const listed = await outputOf('exceptions', `attention.${end}`, [], all)
    expect(listed).toMatch(new RegExp(`^${order.id} overpaid came \\d+\\.\\d{6} left over 1\\.000000`))

    const refunds = await keyFor('Program that asks for refunds')
    expect(await outputOf('refunds', `returnable.${end}`, [order.id], refunds)).toMatch(
      /^returnable \d+\.\d{6} surplus 1\.000000 fee 0\.\d{6}$/,
    )
    const made = (await outputOf('refunds', `refund.${end}`, [order.id, PAYER.address, '42'], refunds)).split(' ')
    expect(made).toEqual([expect.any(String), 'awaiting_signature', '1.000000'])
    expect((await outputOf('refunds', `refund.${end}`, [order.id, PAYER.address, '42'], refunds)).split(' ')).toEqual(made)
    const { domain, types, message } = JSON.parse(readFileSync(join(folder, 'refunds/typed-data.json'), 'utf8'))
    const signature = await wallet.signTypedData(domain, types, message)
    const [id = ''] = made
    const brought = await outputOf('refunds', `sign-refund.${end}`, [id, signature], refunds)
    expect(brought).toBe(`${id} submitted`)
    const refund = () => ask<RefundBody>('GET', `/refunds/${id}`)
    await until(async () => (await refund()).status === 'confirmed', 'it did not go back', WAIT_MS)

    const second = await paidOrder(2_000_000n)
    const claimed = await outputOf('refunds', `claim.${end}`, [second.id, '43'], refunds)
    expect(claimed).toMatch(/^2\.000000 http:\/\/127\.0\.0\.1:\d+\/\S+$/)
    expect(await outputOf('refunds', `claim.${end}`, [second.id, '43'], refunds)).toBe(claimed)
  }, 180_000)

  test('what came too little is explained and accepted', async () => {
    const order = await newOrder()
    const { hash } = await pay(world.chain, order, units(order.usdc_amount) / 2n)
    await until(async () => (await shown(order)).status === 'underpaid', 'it is not underpaid')
    await system.idle()
    expect(await outputOf('exceptions', `explain.${end}`, [order.id, hash], all)).toMatch(/^short \S/)
    const accepted = await outputOf('exceptions', `accept.${end}`, [order.id, 'The exchange kept it'], all)
    expect(accepted).toMatch(/^paid \d+\.\d{6}$/)
  })

  test('a payment that named no order is counted for one', async () => {
    const order = await newOrder()
    const payer = world.chain.wallet(PAYER.privateKey)
    const amount = units(order.usdc_amount)
    await mined(world.chain.mintUsdc(payer.address, amount))
    await mined(world.chain.pay(payer, { memo: hexlify(randomBytes(32)), merchant: order.payment.merchant_address, amount }))
    const items = async () => (await ask<List<AttentionItemBody>>('GET', '/attention?reason=unmatched')).data
    await until(async () => (await items()).length === 1, 'it is not listed')
    const [item] = await items()
    expect(item?.actions).toEqual(['attach'])
    expect(await outputOf('exceptions', `attach.${end}`, [item?.id ?? '', order.id, 'The memo was mistyped'], all)).toBe(`${order.id} paid`)
  })

  test('another token is recovered', async () => {
    const order = await newOrder()
    const { hash } = await mined(foreignToken.getFunction('mint').send(order.payment.deposit_address, 7_000_000n))
    await world.chain.mine()
    const explained = () => outputOf('exceptions', `explain.${end}`, [order.id, hash], all)
    await until(async () => /^wrong_token/.test(await explained()), 'it is not explained', WAIT_MS)
    const recovered = () => outputOf('exceptions', `recover.${end}`, [order.id, String(foreignToken.target), wallet.address], all)
    await until(
      () =>
        recovered().then(
          output => /pending|confirmed/.test(output),
          () => false,
        ),
      'it is refused',
      WAIT_MS,
    )
    const list = () => ask<List<RecoveryBody>>('GET', `/orders/${order.id}/recoveries`)
    await until(async () => (await list()).data[0]?.status === 'confirmed', 'it is not recovered', WAIT_MS)
  }, 180_000)
})

test('no program of the guides was left out', () => {
  const shown = blocks.flatMap(({ page, file }) => (file === null ? [] : [`${page}/${file}`]))
  expect([...ran].sort()).toEqual([...new Set(shown)].sort())
  for (const page of guides) {
    const own = blocks.filter(block => block.page === page && block.file !== null)
    const names = new Set(own.map(({ file }) => file?.split('.')[0]))
    for (const name of names)
      expect([page, name, own.filter(({ file }) => file?.startsWith(`${name}.`)).map(({ kind }) => kind)]).toEqual([
        page,
        name,
        expect.arrayContaining(['ts', 'py', 'php']),
      ])
  }
})
