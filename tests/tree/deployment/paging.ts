import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { findProgram, freePort, type HttpServer, requireProgram, spawnTied, startHttpServer } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { parse, stringify } from 'yaml'
import { interpolate, read } from './compose'

// Alertmanager and Prometheus themselves, with the configuration of infra/compose/production.yml: who is notified of what, what is silenced by its cause, and
// the message whose absence raises the alarm.

const START_MS = 60_000
/** `group_wait` of the route, and time to send. */
const GROUPED_MS = 60_000
/** `repeat_interval` of the dead man's switch is reached at the next `group_interval`, a minute. */
const HEARTBEAT_MS = 240_000
const INSTALLATION = 'production'

interface Rule {
  alert: string
  labels: { severity: 'page' | 'ticket' | 'none' }
}
const rules = (parse(read('infra/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups
  .flatMap(group => group.rules)
  .filter(({ alert }) => alert !== undefined)
const severityOf = (name: string) => rules.find(({ alert }) => alert === name)?.labels.severity

interface Notification {
  path: string
  alerts: { status: string; labels: Record<string, string>; annotations: Record<string, string> }[]
}
interface Configuration {
  inhibit_rules: { source_matchers: string[]; target_matchers: string[]; equal: string[] }[]
}

const notifications: Notification[] = []
const sentTo = (path: string) => notifications.filter(one => one.path === path)
let folder: string
let receiver: HttpServer
let config: string
let configuration: Configuration
let amtool: string
let url: string
const children: ReturnType<typeof spawnTied>[] = []

const isUp = (address: string) =>
  fetch(`${address}/-/ready`).then(
    answer => answer.ok,
    () => false,
  )

async function start(program: string, address: string, args: readonly string[]) {
  const child = spawnTied(program, args, { endSignal: 'TERM' })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  await until(
    () => isUp(address),
    () => `${program} does not start:\n${output.slice(-2_000)}`,
    START_MS,
  )
}

beforeAll(async () => {
  const alertmanager =
    findProgram('alertmanager', 'prometheus-alertmanager') ??
    (await requireProgram('prometheus-alertmanager', 'prometheus-alertmanager', 'npm run deployment-trial'))
  amtool = await requireProgram('amtool', 'prometheus-alertmanager', 'npm run deployment-trial')
  folder = mkdtempSync(join(tmpdir(), 'ponte-paging-'))
  receiver = await startHttpServer(async (request, response) => {
    notifications.push({ path: request.url ?? '', ...((await json(request)) as Omit<Notification, 'path'>) })
    response.end()
  })
  const { configs } = parse(read('infra/compose/production.yml'), {
    customTags: tags => [...tags, { tag: '!reset', collection: 'seq', resolve: () => [] } as never],
  }) as { configs: { alertmanager: { content: string } } }
  const text = interpolate(configs.alertmanager.content, {
    ALERT_SMTP_HOST: '127.0.0.1:9',
    ALERT_MAIL_FROM: 'ponte@shop.example',
    ALERT_MAIL_TO: 'operator@shop.example',
    ALERT_WEBHOOK_URL: `${receiver.url}/person`,
    HEARTBEAT_URL: `${receiver.url}/heartbeat`,
  })
  config = join(folder, 'alertmanager.yaml')
  writeFileSync(config, text)
  configuration = parse(text) as Configuration
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  await start(alertmanager, url, [
    `--config.file=${config}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ])
}, 300_000)
afterAll(async () => {
  await Promise.all(
    children.map(child => {
      child.kill('SIGTERM')
      return child.exitCode === null ? once(child, 'exit') : undefined
    }),
  )
  await receiver?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

/** Alerts as Prometheus sends them; they are resolved again with `endsAt`. */
async function send(names: readonly string[], installation = INSTALLATION, endsAt?: string, service?: string) {
  const alerts = names.map(alertname => ({
    labels: { alertname, installation, severity: severityOf(alertname), ...(service ? { service } : {}) },
    ...(endsAt ? { endsAt } : {}),
  }))
  const answer = await fetch(`${url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(alerts),
  })
  expect(answer.status).toBe(200)
}
const resolve = (names: readonly string[], installation?: string, service?: string) =>
  send(names, installation, new Date(Date.now() - 1).toISOString(), service)

interface Known {
  labels: { alertname: string; installation: string; chain_id?: string }
  status: { state: string }
}
/** Of these alerts, those that are silenced by another, once Alertmanager has processed all. */
async function inhibited(names: readonly string[], installation = INSTALLATION): Promise<string[]> {
  let found: Known[] = []
  await until(
    async () => {
      const all = (await (await fetch(`${url}/api/v2/alerts`)).json()) as Known[]
      found = all.filter(({ labels }) => names.includes(labels.alertname) && labels.installation === installation)
      return found.length === names.length && found.every(({ status }) => status.state !== 'unprocessed')
    },
    () => `Alertmanager knows ${JSON.stringify(found)}`,
    GROUPED_MS,
  )
  return found.filter(({ status }) => status.state === 'suppressed').map(({ labels }) => labels.alertname)
}

/** The first service that a rule is about. */
const serviceOf = (matchers: string[]) => matchers.flatMap(matcher => /^service=~?"([^"|]+)/.exec(matcher)?.[1] ?? [])[0]
const namesOf = ([matcher = '']: string[]) => (/^alertname=~?"(.+)"$/.exec(matcher)?.[1] ?? '').split('|')

it('Alertmanager takes the configuration of compose', () => {
  expect(execFileSync(amtool, ['check-config', config], { encoding: 'utf8' })).toContain('SUCCESS')
})

const RECEIVERS = { page: 'person', ticket: 'tickets', none: 'heartbeat' } as const
it.each(rules.map(({ alert, labels }) => [alert, labels.severity] as const))('%s, a %s, reaches its receiver', (alert, severity) => {
  const labels = [`alertname=${alert}`, `severity=${severity}`, `installation=${INSTALLATION}`]
  const routed = execFileSync(amtool, ['config', 'routes', 'test', `--config.file=${config}`, ...labels], { encoding: 'utf8' })
  expect(routed.trim()).toBe(RECEIVERS[severity])
})

it('each cause silences what follows from it, of its own installation, and nothing else', async () => {
  expect(configuration.inhibit_rules.length).toBeGreaterThan(3)
  for (const rule of configuration.inhibit_rules) {
    expect(rule.equal).toContain('installation')
    const targets = namesOf(rule.target_matchers)
    const service = serviceOf(rule.source_matchers)
    for (const cause of namesOf(rule.source_matchers)) {
      expect([cause, ...targets].filter(name => severityOf(name) === undefined)).toEqual([])
      await send(targets, 'staging')
      await send([cause, ...targets], INSTALLATION, undefined, service)
      await until(
        async () => (await inhibited(targets)).length === targets.length,
        () => `${cause} does not silence ${targets}`,
        GROUPED_MS,
      )
      expect({ cause, silenced: await inhibited([cause]) }).toEqual({ cause, silenced: [] })
      // Of another installation only what follows from another of them.
      const among = configuration.inhibit_rules
        .filter(one => namesOf(one.source_matchers).some(name => targets.includes(name)))
        .flatMap(one => namesOf(one.target_matchers))
      expect((await inhibited(targets, 'staging')).filter(name => !among.includes(name))).toEqual([])
      await resolve([cause, ...targets], INSTALLATION, service)
      await resolve(targets, 'staging')
    }
  }
}, 300_000)

it('a relayer that is away on purpose silences nothing, and a disk no server', async () => {
  const installation = 'on purpose'
  const targets = ['PonteFaults', 'PonteOutsideAway', 'PontePostgresAway', 'PonteBrokerAway']
  await send(['PonteServiceAway'], installation, undefined, 'relayer')
  await send(['PonteDiskFull', ...targets], installation)
  // PostgreSQL is the cause of faults; without it nothing is.
  expect(await inhibited(targets, installation)).toEqual(['PonteFaults'])
  await resolve(['PontePostgresAway'], installation)
  await until(
    async () => (await inhibited(['PonteFaults'], installation)).length === 0,
    () => 'PonteFaults is silenced by something else',
    GROUPED_MS,
  )
})

it('a network that stands still silences what follows from it on that network, and nothing of another one', async () => {
  const installation = 'networks'
  const on = (alertname: string, chain_id: string) => ({ alertname, installation, chain_id, severity: severityOf(alertname) })
  const alerts = [on('PonteChainStands', '137'), on('PontePaymentsNotRead', '137'), on('PontePaymentsNotRead', '8453')]
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(alerts.map(labels => ({ labels }))) }
  expect((await fetch(`${url}/api/v2/alerts`, init)).status).toBe(200)
  const states = async () =>
    ((await (await fetch(`${url}/api/v2/alerts`)).json()) as Known[])
      .filter(({ labels }) => labels.installation === installation)
      .map(({ labels, status }) => `${labels.alertname} ${labels.chain_id} ${status.state}`)
      .sort()
  await until(
    async () => (await states()).filter(one => !one.endsWith(' unprocessed')).length === alerts.length,
    async () => `Alertmanager knows ${await states()}`,
    GROUPED_MS,
  )
  expect(await states()).toEqual(['PonteChainStands 137 active', 'PontePaymentsNotRead 137 suppressed', 'PontePaymentsNotRead 8453 active'])
})

it('an outage of PostgreSQL is one message to a person, of its cause alone', async () => {
  const targets = namesOf(
    configuration.inhibit_rules.find(rule => namesOf(rule.source_matchers).includes('PontePostgresAway'))?.target_matchers ?? [],
  )
  const installation = 'outage'
  await send(['PontePostgresAway', ...targets], installation)
  const ofOutage = () => sentTo('/person').filter(({ alerts }) => alerts.some(({ labels }) => labels.installation === installation))
  await until(() => ofOutage().length > 0, 'no message reached the person', GROUPED_MS)
  expect(ofOutage().map(({ alerts }) => alerts.map(({ labels }) => labels.alertname))).toEqual([['PontePostgresAway']])
})

it('Prometheus sends the dead man`s switch, named by its installation, again and again, and to no person', async () => {
  const prometheus = await requireProgram('prometheus', 'prometheus', 'npm run deployment-trial')
  const port = await freePort()
  const given = parse(
    interpolate(read('infra/prometheus/prometheus.yaml'), { PONTE_INSTALLATION: INSTALLATION, PONTE_RUNBOOKS: 'https://runbooks.example' }),
  )
  const file = join(folder, 'prometheus.yaml')
  const alertmanagers = [{ static_configs: [{ targets: [new URL(url).host] }] }]
  const alerting = { ...given.alerting, alertmanagers }
  writeFileSync(
    file,
    stringify({ ...given, alerting, rule_files: [join(__dirname, '../../../infra/prometheus/alerts.yaml')], scrape_configs: [] }),
  )
  await start(prometheus, `http://127.0.0.1:${port}`, [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'prometheus')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ])
  await until(
    () => sentTo('/heartbeat').length >= 2,
    () => `${sentTo('/heartbeat').length} heartbeats came`,
    HEARTBEAT_MS,
  )
  for (const { alerts } of sentTo('/heartbeat')) {
    expect(alerts.map(({ labels }) => labels)).toEqual([{ alertname: 'PonteDeadMansSwitch', installation: INSTALLATION, severity: 'none' }])
    expect(alerts[0]?.annotations.runbook_url).toBe('https://runbooks.example/docs/operating/incidents.md#pontedeadmansswitch')
  }
  const toPerson = sentTo('/person').flatMap(({ alerts }) => alerts.map(({ labels }) => labels.alertname))
  expect(toPerson).not.toContain('PonteDeadMansSwitch')
}, 300_000)
