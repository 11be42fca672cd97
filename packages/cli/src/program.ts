import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { depositAddress, isPonteError, Ponte, type TestPayments } from '@ponte/sdk'
import { Command } from 'commander'
import { type AuditOptions, audit } from './audit'
import { completion } from './completion'
import { diagnose } from './diagnose'
import { type VerifyDossierOptions, verifyDossier } from './dossier'
import { listen } from './listen'
import { createOutput, fields, type Output, table } from './output'
import { findOrder, inTests, isVia, payOrder } from './payments'
import { MisuseError, openProfile, UsageError } from './profile'
import { addResources } from './resources'
import { accountClient, logIn, merchantClient } from './session'
import { trigger, triggerable } from './trigger'

// Of the package itself, wherever it is installed: the folder of this file stands beside its manifest.
const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')) as { version: string }

const SECRET = 'the webhook secret; rather set PONTE_WEBHOOK_SECRET, since every user of a machine can read the arguments of its processes'

export interface ProgramContext {
  env: Record<string, string | undefined>
  home: string
  cwd: string
  stdout: NodeJS.WriteStream
  stderr: NodeJS.WriteStream
  /** One line from the person at the terminal, which is not shown. */
  askSecret(question: string): Promise<string>
  /** Ends what would go on for ever. */
  signal: AbortSignal
  /** Calls back for each line of the terminal. */
  onLine(callback: (line: string) => void): void
}

export function createProgram(context: ProgramContext): Command {
  const { env, stdout, stderr, askSecret, signal } = context
  const profile = openProfile(context)
  const program = new Command('ponte').description('orders, events and webhooks of Ponte').version(version)
  program.option('--json', 'print JSON').showHelpAfterError()
  const output = (): Output => {
    const colour = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
    return createOutput({ json: program.opts().json === true, colour, stdout, stderr })
  }
  const announce = () => {
    const { base_url, api_key } = profile.read()
    output().note(`Ponte at ${base_url}, key …${api_key.slice(-8)}`)
  }

  program
    .command('login')
    .description('keep a URL and its API key, or a user for what needs one')
    .option('--url <url>', 'where Ponte is, such as https://pay.example.com')
    .option('--user <email>', 'log this user in too, for deliveries and endpoints where the key has no such scope')
    .action(async (options: { url?: string; user?: string }) => {
      if (options.url) {
        const base_url = new URL(options.url).href.replace(/\/+$/, '')
        const api_key = env.PONTE_API_KEY ?? (await askSecret('API key: '))
        await new Ponte(api_key, { baseUrl: base_url }).orders.list({ limit: 1 })
        profile.save({ base_url, api_key })
      }
      if (options.user) {
        const { base_url } = profile.read()
        profile.save({ session: await logIn(base_url, options.user, env.PONTE_PASSWORD ?? (await askSecret('Password: '))) })
      }
      if (!options.url && !options.user) throw new UsageError('Name --url, --user or both.')
      announce()
      output().show({ profile: profile.path }, `Kept in ${profile.path}`)
    })

  program
    .command('status')
    .description('which Ponte this is, and how far its events are')
    .action(async () => {
      announce()
      const ponte = merchantClient(profile)
      const { base_url } = profile.read()
      const started = performance.now()
      const [event] = (await ponte.events.list({ limit: 1 })).data
      const ms = Math.round(performance.now() - started)
      const [order] = (await ponte.orders.list({ limit: 1 })).data
      const merchant = await accountClient(profile)
        .merchant.get()
        .catch((error: unknown) => {
          if (isPonteError(error, 'forbidden')) return null
          throw error
        })
      const found = {
        url: base_url,
        merchant: merchant?.display_name ?? null,
        chain_id: order?.payment.chain_id ?? null,
        last_event: event?.sequence ?? 0,
        answered_in_ms: ms,
        listening: profile.read().listen?.positions ?? {},
      }
      output().show(found, fields(found))
    })

  program
    .command('merchant')
    .description('the merchant of the key or the login')
    .action(async () => {
      const merchant = await accountClient(profile).merchant.get()
      output().show(merchant, fields(merchant))
    })

  addResources(program, { profile, output, print: file => void stdout.write(file) })

  program
    .command('listen')
    .description('forward events to a program on this machine, as webhooks; nothing is missed while it is away')
    .requiredOption('--forward-to <url>', 'where the program takes webhooks')
    .option('--events <types>', 'only these, with commas between')
    .option('--from <cursor>', 'begin after this event, by its cursor or sequence, or with "now"')
    .option('--secret <secret>', `${SECRET}; by default one that it makes, shows and keeps`)
    .action(async (options: { forwardTo: string; events?: string; from?: string; secret?: string }) => {
      announce()
      const forwardTo = new URL(/^https?:\/\//.test(options.forwardTo) ? options.forwardTo : `http://${options.forwardTo}`).href
      await listen({
        ...{
          ponte: merchantClient(profile),
          profile,
          output: output(),
          forwardTo,
          signal,
          secret: options.secret ?? (env.PONTE_WEBHOOK_SECRET || undefined),
        },
        types: options.events?.split(','),
        from: options.from === undefined ? undefined : placeOf(options.from),
        onResend: resend => context.onLine(line => line.trim() === 'r' && resend()),
      })
    })

  program
    .command('trigger <event>')
    .description(`make an event happen, for real, in a deployment for tests: ${triggerable.join(', ')}`)
    .action(async (type: string) => {
      announce()
      const step = (text: string) => output().note(text)
      const event = await trigger(type, { ponte: merchantClient(profile), step })
      output().show(event, `event ${event.sequence}  ${event.type}  ${event.id}`)
    })

  program
    .command('pay <order>')
    .description('pay an order as the sample payer of a deployment for tests; an id or a checkout link')
    .option('--amount <usdc>', 'instead of what is due')
    .option('--via <way>', 'transfer, exchange, router or signature', 'transfer')
    .action(async (idOrLink: string, { amount, via }: { amount?: string; via: string }) => {
      if (!isVia(via)) throw new UsageError('--via is transfer, exchange, router or signature.')
      announce()
      const ponte = merchantClient(profile)
      const { payments } = await payOrder(ponte, await findOrder(ponte, idOrLink), { ...(amount ? { amount } : {}), via })
      output().show(payments, sentLines(payments))
    })

  program
    .command('simulate [order] [scenario]')
    .description('have something go wrong with an order of a deployment for tests; without arguments, list what can')
    .option('--seconds <count>', 'how long slow_node, halted and no_rate last')
    .action(async (idOrLink: string | undefined, name: string | undefined, { seconds }: { seconds?: string }) => {
      announce()
      const ponte = merchantClient(profile)
      const { data } = await inTests(() => ponte.testing.scenarios())
      const scenario = data.find(one => one.scenario === name)?.scenario
      if (idOrLink === undefined)
        return output().show(data, table(data.map(one => [one.scenario, one.expects.events.join(', '), one.expects.status])))
      if (!scenario) throw new UsageError(`Name a scenario: ${data.map(one => one.scenario).join(', ')}.`)
      const order = await findOrder(ponte, idOrLink)
      const done = await ponte.testing.simulate(order.id, { scenario, ...(seconds ? { seconds: Number(seconds) } : {}) })
      output().show(
        done,
        [done.description, sentLines(done.payments), `expect: ${done.expects.events.join(', ') || 'no event'}`].join('\n'),
      )
    })

  program
    .command('clock [advance]')
    .description('the clock of a deployment for tests; moves it forward by a duration such as P1M or PT90M')
    .action(async (advance: string | undefined) => {
      announce()
      const ponte = merchantClient(profile)
      const clock = await inTests(() => (advance === undefined ? ponte.testing.clock() : ponte.testing.advance({ advance })))
      output().show(clock, `It is ${clock.now}`)
    })

  program
    .command('verify')
    .description('find out why the signature of a webhook does not fit')
    .requiredOption('--body <file>', 'the raw body')
    .requiredOption('--signature <hex>', 'X-Service-Signature')
    .option('--secret <secret>', `${SECRET}; it is asked for where neither is given`)
    .action(async (options: { body: string; signature: string; secret?: string }) => {
      const secret = options.secret ?? (env.PONTE_WEBHOOK_SECRET || (await askSecret('Webhook secret: ')))
      const found = await diagnose(readFileSync(options.body, 'utf8'), options.signature, secret)
      output().show(found, found.reason)
      if (!found.valid) throw new UsageError('The signature does not fit.')
    })

  program
    .command('verify-address <address>')
    .description('whether money at a deposit address can reach your payout address and no other; asks no server')
    .requiredOption('--router <address>', 'the payment router')
    .requiredOption('--memo <hex>', 'of the order')
    .requiredOption('--payout <address>', 'your payout address')
    .action((address: string, { router, memo, payout }: { router: string; memo: string; payout: string }) => {
      const expected = depositAddress({ router, memo, payoutAddress: payout })
      const valid = address.toLowerCase() === expected
      output().show(
        { valid, expected },
        valid ? 'It is the deposit address of this memo and your payout address.' : `It should be ${expected}`,
      )
      if (!valid) throw new UsageError('Send no payer to it: the address belongs to another memo, router or payout address.')
    })

  program
    .command('audit')
    .description(
      'compare your ledger, log by log, with your own node; ends with 1 when anything differs and with 2 when nothing could be compared',
    )
    .requiredOption('--rpc <url>', 'your own node')
    .requiredOption('--payout <address...>', 'your payout addresses, those of earlier times too')
    .requiredOption('--router <address...>', 'the payment routers')
    .requiredOption('--token <address>', 'the contract of USDC')
    .option('--from-block <number>', 'the first block, 0 by default')
    .option('--direct-from <number>', 'the block from which on the ledger has transfers past the routers, 0 by default')
    .option('--to-block <number>', 'the last block; by default the last one that the node names as finalized')
    .option('--confirmations <number>', 'take blocks of this depth for final')
    .option('--chain-id <number>', 'refuse a node of another chain')
    .option('--checkpoints', 'recompute the checkpoints of what was booked for everyone, too')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async (options: AuditOptions) => {
      const count = await audit(merchantClient(profile), options, output()).catch((error: unknown) => {
        if (error instanceof MisuseError) throw error
        throw new MisuseError(error instanceof Error ? error.message : String(error), { cause: error })
      })
      if (count > 0) throw new UsageError(count === 1 ? 'One difference.' : `${count} differences.`)
    })

  program
    .command('verify-dossier <file>')
    .description('verify an origin dossier, without a question to its installation; ends with 1 when anything in it is not so')
    .option('--keys <file>', 'the keys of the installation, as GET /api/v1/dossier-keys answers them')
    .option('--installation <url>', 'ask the installation that you trust for its keys')
    .option('--rpc <url...>', 'nodes that are to have its blocks and transactions')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async (file: string, options: VerifyDossierOptions) => {
      const count = await verifyDossier(file, options, output())
      if (count > 0) throw new UsageError('The dossier is not what it claims to be.')
    })

  program
    .command('completion <shell>')
    .description('a script for bash, zsh or fish')
    .action((shell: string) => void stdout.write(`${completion(shell, program)}\n`))
  return program
}

const sentLines = (payments: TestPayments['payments']) =>
  payments.map(({ amount, via, tx_hash }) => `sent ${amount} USDC by ${via}: ${tx_hash}`).join('\n')

function placeOf(text: string): string | number {
  if (text === 'now') return text
  if (!/^\d{1,15}(-[0-9a-f]{16})?$/.test(text)) throw new UsageError('--from is the cursor or the sequence of an event, or now.')
  return text.includes('-') ? text : Number(text)
}
