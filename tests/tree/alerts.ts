import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireProgram } from '@ponte/local-servers'
import { parse, stringify } from 'yaml'

// Prometheus itself evaluates the rules: each alert fires when its condition holds, and none fires while all is well.

const rules = join(__dirname, '../../infra/prometheus/alerts.yaml')
interface Alert {
  alert: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string; runbook_url: string; paged_because?: string }
}
const alerts = (parse(readFileSync(rules, 'utf8')) as { groups: { rules: Alert[] }[] }).groups
  .flatMap(group => group.rules)
  .filter(({ alert }) => alert !== undefined)

const services = ['api-gateway', 'orders', 'subscriptions', 'chain-listener', 'relayer', 'webhook-dispatcher']
type Series = Record<string, string>
const ofEach = (metric: string, values: string): Series =>
  Object.fromEntries(services.map(service => [`${metric}{service="${service}"}`, values]))

/** Two hours of a system that is well, a value a minute. */
const well: Series = {
  ...ofEach('ponte_database_answers', '1x120'),
  ...ofEach('ponte_database_connections_max', '10x120'),
  ...Object.fromEntries(
    ['chain-listener', 'relayer'].flatMap(service =>
      [8453, 10].map(chain => [`ponte_database_connections_max{service="${service}",chain_id="${chain}"}`, '10x120']),
    ),
  ),
  ...ofEach('ponte_database_connections_awaited', '0x120'),
  ...ofEach('ponte_bus_accepts', '1x120'),
  ...ofEach('ponte_bus_connections', '2x120'),
  ...ofEach('ponte_outbox_oldest_age_seconds', '0x120'),
  ...ofEach('ponte_queue_waiting', '3x120'),
  ...ofEach('ponte_reconcile_differences', '0x120'),
  ...ofEach('ponte_reconcile_last_run_timestamp_seconds', '0+60x120'),
  'ponte_chain_lag_seconds{service="chain-listener",chain_id="8453"}': '2x120',
  'ponte_chain_head_timestamp_seconds{service="chain-listener",chain_id="8453"}': '0+60x120',
  'ponte_chain_question_unanswered_seconds{service="chain-listener",chain_id="8453",question="transfers"}': '0x9 120 240 0x108',
  'ponte_chain_unlinked_seconds{service="chain-listener",chain_id="8453"}': '0x9 60 0x109',
  'ponte_chain_leader{service="chain-listener",chain_id="8453",instance="a"}': '1x120',
  'ponte_chain_leader{service="chain-listener",chain_id="8453",instance="b"}': '0x120',
  'ponte_chain_halted{service="chain-listener",chain_id="8453"}': '0x120',
  // Of another network.
  'ponte_chain_lag_seconds{service="chain-listener",chain_id="10"}': '2x120',
  'ponte_chain_head_timestamp_seconds{service="chain-listener",chain_id="10"}': '0+60x120',
  'ponte_chain_leader{service="chain-listener",chain_id="10",instance="c"}': '1x120',
  'ponte_chain_halted{service="chain-listener",chain_id="10"}': '0x120',
  'ponte_contract_monitor_last_run_timestamp_seconds{service="chain-listener",chain_id="10"}': '0+60x120',
  'ponte_reorged_payments_total{service="orders"}': '0x120',
  'ponte_payment_events_missing{service="orders"}': '0x120',
  'ponte_orders_stranded{service="orders"}': '0x120',
  'ponte_unmatched_payments_total{service="orders",reason="unknown_memo"}': '0x120',
  'ponte_quote_lasts_seconds{service="orders"}': '285x120',
  'ponte_events_handled_total{service="orders",type="chain.blocks",outcome="done"}': '0+60x120',
  'ponte_events_handled_total{service="orders",type="chain.blocks",outcome="dead"}': '0x120',
  'ponte_events_handled_total{service="orders",type="chain.blocks",outcome="retried"}': '0x120',
  'ponte_webhook_oldest_due_age_seconds{service="webhook-dispatcher"}': '0x120',
  'ponte_webhook_attempts_total{service="webhook-dispatcher",outcome="delivered"}': '0+60x120',
  'ponte_webhook_attempts_total{service="webhook-dispatcher",outcome="http_5xx"}': '0+6x120',
  'ponte_webhook_leases_reaped_total{service="webhook-dispatcher"}': '0x120',
  'ponte_webhook_waiting_events{service="webhook-dispatcher"}': '0x120',
  'ponte_http_request_duration_seconds_count{service="orders",status="201"}': '0+600x120',
  'ponte_http_request_duration_seconds_count{service="orders",status="503"}': '0x120',
  'ponte_http_request_duration_seconds_bucket{service="orders",route="/api/v1/orders",le="0.5"}': '0+600x120',
  'ponte_http_request_duration_seconds_bucket{service="orders",route="/api/v1/orders",le="5"}': '0+600x120',
  'ponte_http_request_duration_seconds_bucket{service="orders",route="/api/v1/orders",le="+Inf"}': '0+600x120',
  'ponte_subscription_overdue_seconds{service="subscriptions"}': '0x120',
  'ponte_subscription_orders_undecided{service="subscriptions"}': '0x120',
  'ponte_relayer_sweeps_affordable{service="chain-listener"}': '5000x120',
  'ponte_relayer_sweeps_starved{service="chain-listener"}': '0x120',
  'ponte_relayer_signatures_starved{service="chain-listener"}': '0x120',
  'ponte_relayer_signatures_affordable{service="chain-listener"}': '5000x120',
  'ponte_relayer_sweeps_budget_used{service="chain-listener"}': '0.1x120',
  'ponte_relayer_signatures_budget_used{service="chain-listener"}': '0.1x120',
  'ponte_relayer_sweeps_new_merchants_budget_used{service="chain-listener"}': '0.1x120',
  'ponte_relayer_signatures_new_merchants_budget_used{service="chain-listener"}': '0.1x120',
  'ponte_relayer_sweeps_unmined{service="chain-listener"}': '1x120',
  'ponte_relayer_signatures_unmined{service="chain-listener"}': '1x120',
  'ponte_relayer_transactions_total{service="chain-listener",kind="sweep",outcome="noop"}': '0x120',
  'ponte_authorizations_refused_total{service="chain-listener",reason="signature"}': '0x120',
  'ponte_deposits_blocked{service="chain-listener"}': '0x120',
  'ponte_deposits_unsynced{service="chain-listener"}': '0x120',
  'ponte_deposits_oldest_age_seconds{service="chain-listener"}': '20x120',
  'ponte_authorizations_oldest_age_seconds{service="chain-listener"}': '0x120',
  'ponte_chain_time_quarantined_total{service="orders"}': '0x120',
  'ponte_chain_unproven_total{service="chain-listener"}': '0x120',
  'ponte_contract_monitor_last_run_timestamp_seconds{service="chain-listener",chain_id="8453"}': '0+60x120',
  'ponte_deployment_differences{service="chain-listener"}': '0x120',
  'ponte_router_payments_without_fee{service="chain-listener"}': '0x120',
  'ponte_payout_addresses_ended{service="chain-listener"}': '1x120',
  'ponte_payout_addresses_ended{service="chain-listener",chain_id="10"}': '0x120',
  'ponte_payout_addresses_flooded{service="chain-listener"}': '0x120',
  'ponte_router_strays{service="chain-listener",account="router",asset="usdc"}': '0x120',
  'ponte_token_blocked{service="chain-listener",account="router"}': '0x120',
  'ponte_token_implementation_info{service="chain-listener",chain_id="8453",implementation="0x1"}': '1x120',
  'ponte_token_implementation_info{service="chain-listener",chain_id="137",implementation="0x3"}': '1x120',
  'ponte_token_paused{service="chain-listener"}': '0x120',
  ...ofEach('ponte_dead_letters_waiting', '0x120'),
  ...Object.fromEntries(['postgres', 'rabbitmq', 'host', 'outside', 'alertmanager'].map(job => [`up{job="${job}"}`, '1x120'])),
  'pg_up{job="postgres"}': '1x120',
  'pg_stat_archiver_failed_count{job="postgres"}': '2x120',
  'pg_stat_archiver_archived_count{job="postgres"}': '0+1x120',
  'pg_replication_lag_seconds{job="postgres"}': '0x120',
  'ponte_backup_last_success_timestamp_seconds{job="host"}': '0x120',
  'node_filesystem_avail_bytes{job="host",instance="one",mountpoint="/",fstype="ext4"}': '60x120',
  'node_filesystem_size_bytes{job="host",instance="one",mountpoint="/",fstype="ext4"}': '100x120',
  'rabbitmq_alarms_free_disk_space_watermark{job="rabbitmq"}': '0x120',
  'rabbitmq_alarms_memory_used_watermark{job="rabbitmq"}': '0x120',
  'probe_success{instance="https://pay.example.com"}': '1x120',
  'probe_ssl_earliest_cert_expiry{instance="https://pay.example.com"}': '5000000x120',
  'ponte_owner_replicas_silent{service="api-gateway"}': '0x120',
  'ponte_mails_waiting{service="api-gateway"}': '3x120',
  'ponte_mails_attempts_total{service="api-gateway",outcome="sent"}': '0+2x120',
}

/** Unlike a system that is well, for an hour from the tenth minute on. */
const conditions: Record<string, Series> = {
  PontePaymentsNotRead: { 'ponte_chain_lag_seconds{service="chain-listener",chain_id="8453"}': '2x9 300x60' },
  PonteQuestionRefused: {
    'ponte_chain_question_unanswered_seconds{service="chain-listener",chain_id="8453",question="transfers"}': '0x9 60+60x60',
  },
  PonteChainUnlinked: { 'ponte_chain_unlinked_seconds{service="chain-listener",chain_id="8453"}': '0x9 60+60x60' },
  PonteChainStands: { 'ponte_chain_head_timestamp_seconds{service="chain-listener",chain_id="8453"}': '0+60x9 540x60' },
  PonteNoChainLeader: { 'ponte_chain_leader{service="chain-listener",chain_id="8453",instance="a"}': '1x9 0x60' },
  PonteChainHalted: { 'ponte_chain_halted{service="chain-listener",chain_id="8453"}': '0x9 1x60' },
  PonteConfirmedPaymentVanished: { 'ponte_reorged_payments_total{service="orders"}': '0x9 1x60' },
  PonteOrdersStranded: { 'ponte_orders_stranded{service="orders"}': '0x9 2x60' },
  PonteExpiryWaits: { 'ponte_payment_events_missing{service="orders"}': '0x9 2x60' },
  PontePaymentsUnmatched: { 'ponte_unmatched_payments_total{service="orders",reason="unknown_memo"}': '0x9 8x60' },
  PonteBooksDiffer: { 'ponte_reconcile_differences{service="orders"}': '0x9 1x60' },
  PonteBooksNotAudited: { 'ponte_reconcile_last_run_timestamp_seconds{service="orders"}': '0+60x9 540x60' },
  PonteQuoteOld: { 'ponte_quote_lasts_seconds{service="orders"}': '285x9 0x60' },
  PonteBrokerAway: { 'ponte_bus_connections{service="orders"}': '2x9 1x60' },
  PonteOutboxStuck: { 'ponte_outbox_oldest_age_seconds{service="orders"}': '0x9 120x60' },
  PonteDeadLetters: { 'ponte_dead_letters_waiting{service="orders"}': '0x9 1x60' },
  PonteChainTimeAhead: { 'ponte_chain_time_quarantined_total{service="orders"}': '0x9 1x60' },
  PonteNodesDisagree: { 'ponte_chain_votes_undecided_total{service="chain-listener"}': '0x9 2+2x60' },
  PonteChainUnproven: { 'ponte_chain_unproven_total{service="chain-listener"}': '0x9 1+1x60' },
  PonteContractsNotMonitored: {
    'ponte_contract_monitor_last_run_timestamp_seconds{service="chain-listener",chain_id="8453"}': '0+60x9 540x60',
  },
  PonteDeploymentDiffers: { 'ponte_deployment_differences{service="chain-listener"}': '0x9 1x60' },
  PonteFeesNotTaken: { 'ponte_router_payments_without_fee{service="chain-listener"}': '0x9 1x60' },
  PontePayoutAddressEnded: { 'ponte_payout_addresses_ended{service="chain-listener"}': '1x9 2x60' },
  PontePayoutAddressFlooded: { 'ponte_payout_addresses_flooded{service="chain-listener"}': '0x9 1x60' },
  PonteStrays: { 'ponte_router_strays{service="chain-listener",account="router",asset="usdc"}': '0x9 5x60' },
  PonteAccountBlocked: { 'ponte_token_blocked{service="chain-listener",account="router"}': '0x9 1x60' },
  PonteTokenPaused: { 'ponte_token_paused{service="chain-listener"}': '0x9 1x60' },
  PonteTokenUpgraded: { 'ponte_token_implementation_info{service="chain-listener",chain_id="8453",implementation="0x2"}': '_x12 1x60' },
  PonteEventsRetried: { 'ponte_events_handled_total{service="orders",type="chain.blocks",outcome="retried"}': '0x9 120+120x60' },
  PonteQueueGrows: { 'ponte_queue_waiting{service="orders"}': '3x9 20000x60' },
  PonteWebhooksLate: { 'ponte_webhook_oldest_due_age_seconds{service="webhook-dispatcher"}': '0x9 90x60' },
  PonteWebhooksFail: { 'ponte_webhook_attempts_total{service="webhook-dispatcher",outcome="http_5xx"}': '0+6x9 60+120x60' },
  PonteWorkersLost: { 'ponte_webhook_leases_reaped_total{service="webhook-dispatcher"}': '0x9 30x60' },
  PonteEventsWithoutMerchant: { 'ponte_webhook_waiting_events{service="webhook-dispatcher"}': '0x9 4x60' },
  PonteMailsWait: { 'ponte_mails_attempts_total{service="api-gateway",outcome="sent"}': '0+2x9 18x110' },
  PonteFaults: { 'ponte_http_request_duration_seconds_count{service="orders",status="503"}': '0x9 60+60x60' },
  PonteSlow: { 'ponte_http_request_duration_seconds_bucket{service="orders",route="/api/v1/orders",le="0.5"}': '0+600x9 5400+300x60' },
  PontePoolExhausted: { 'ponte_database_connections_awaited{service="orders"}': '0x9 40x60' },
  PonteSubscriptionsLate: { 'ponte_subscription_overdue_seconds{service="subscriptions"}': '0x9 900x60' },
  PonteReportsMissing: { 'ponte_subscription_orders_undecided{service="subscriptions"}': '0x9 1x60' },
  PonteServiceAway: { 'ponte_database_connections_max{service="orders"}': '10x9 stale _x60' },
  PonteSweepsRunDry: { 'ponte_relayer_sweeps_affordable{service="chain-listener"}': '5000x9 100x60' },
  PonteGaslessRunsDry: { 'ponte_relayer_signatures_affordable{service="chain-listener"}': '5000x9 100x60' },
  PonteGasBudgetNearlySpent: { 'ponte_relayer_signatures_budget_used{service="chain-listener"}': '0.1x9 0.9x60' },
  PonteNewMerchantsBudgetNearlySpent: {
    'ponte_relayer_signatures_new_merchants_budget_used{service="chain-listener"}': '0.1x9 0.9x60',
  },
  PonteRelayerStuck: { 'ponte_relayer_sweeps_unmined{service="chain-listener"}': '1x9 8x60' },
  PonteSignaturesRefused: { 'ponte_authorizations_refused_total{service="chain-listener",reason="signature"}': '0x9 20+20x60' },
  PonteRelayerStarved: { 'ponte_relayer_sweeps_starved{service="chain-listener"}': '0x9 1x60' },
  PonteDepositsBlocked: { 'ponte_deposits_blocked{service="chain-listener"}': '0x9 1x60' },
  PonteDepositAddressesUnsynced: { 'ponte_deposits_unsynced{service="chain-listener"}': '0x9 7x60' },
  PontePostgresAway: { 'pg_up{job="postgres"}': '1x9 0x60' },
  PonteArchiveFails: {
    'pg_stat_archiver_failed_count{job="postgres"}': '2x9 3+1x60',
    'pg_stat_archiver_archived_count{job="postgres"}': '0+1x9 9x60',
  },
  PonteBackupOld: { 'ponte_backup_last_success_timestamp_seconds{job="host"}': '0x9 -200000x60' },
  PonteExporterAway: { 'up{job="postgres"}': '1x9 0x60' },
  PonteDiskFull: { 'node_filesystem_avail_bytes{job="host",instance="one",mountpoint="/",fstype="ext4"}': '60x9 9x60' },
  PonteReplicationBehind: { 'pg_replication_lag_seconds{job="postgres"}': '0x9 90x60' },
  PonteBrokerAlarm: { 'rabbitmq_alarms_free_disk_space_watermark{job="rabbitmq"}': '0x9 1x60' },
  PonteOutsideAway: { 'probe_success{instance="https://pay.example.com"}': '1x9 0x60' },
  PonteCertificateExpires: { 'probe_ssl_earliest_cert_expiry{instance="https://pay.example.com"}': '5000000x9 900000x110' },
  PonteReplicaSilent: { 'ponte_owner_replicas_silent{service="api-gateway"}': '0x9 1x60' },
  PonteDepositsWait: { 'ponte_deposits_oldest_age_seconds{service="chain-listener"}': '20x9 3600x60' },
}

/** The minute of the look, where the condition lasts shorter or longer than the others'. */
const FIRES_AT: Record<string, number> = {
  PonteChainTimeAhead: 15,
  PonteWorkersLost: 15,
  PonteWebhooksFail: 55,
  PonteMailsWait: 65,
  PonteDepositAddressesUnsynced: 55,
  PonteCertificateExpires: 90,
}

let promtool: string
let folder: string
beforeAll(async () => {
  promtool = await requireProgram('promtool', 'prometheus', 'testing the alerts')
  folder = mkdtempSync(join(tmpdir(), 'ponte-alerts-'))
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Scenario {
  /** Each differs from a system that is well. */
  changed?: Series
  /** In place of such a system. */
  series?: Series
  /** By minute, the names of exactly the alerts that fire at it. */
  firing: Readonly<Record<number, readonly string[]>>
}

/** Runs scenarios by promtool: empty when all is as they have it, each alert once with the labels of each place. */
function evaluate(name: string, scenarios: readonly Scenario[], places: readonly Series[] = [{}]): string {
  const file = join(folder, `${name}.yaml`)
  const labels = ['alertname', ...Object.keys(places[0] ?? {})].join(', ')
  const labelsOf = (labels: Series) => `{${Object.entries(labels).map(([label, value]) => `${label}="${value}"`)}}`
  const tests = scenarios.map(({ changed = {}, series = { ...well, ...changed }, firing }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([metric, values]) => ({ series: metric, values })),
    promql_expr_test: Object.entries(firing).map(([minute, names]) => ({
      expr: `count by (${labels}) (ALERTS{alertstate="firing",alertname!="PonteDeadMansSwitch"})`,
      eval_time: `${minute}m`,
      exp_samples: names.flatMap(alertname => places.map(place => ({ labels: labelsOf({ alertname, ...place }), value: 1 }))),
    })),
  }))
  writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }))
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })
  return status === 0 ? '' : `${stdout}${stderr}`
}

it('none fires while all is well', () => {
  expect(evaluate('well', [{ changed: {}, firing: { 110: [] } }])).toBe('')
})

it('each has its condition here', () => {
  expect([...Object.keys(conditions), 'PonteDeadMansSwitch'].sort()).toEqual(alerts.map(({ alert }) => alert).sort())
})

it.each(Object.entries(conditions))('%s fires, alone, when its condition holds, and not before', (name, changed) => {
  expect(evaluate(name, [{ changed, firing: { 9: [], [FIRES_AT[name] ?? 40]: [name] } }])).toBe('')
})

it('a counter that first appears as 1 would escape: those that alerts read begin at 0', () => {
  const unseen = { 'ponte_reorged_payments_total{service="orders"}': '_x10 1x60' }
  expect(evaluate('from-one', [{ changed: unseen, firing: { 40: [] } }])).toBe('')
})

it('those of PostgreSQL fire by the names that its operator for Kubernetes gives its metrics too', () => {
  const unknown = ['pg_up', 'pg_stat_archiver_failed_count', 'pg_stat_archiver_archived_count'].map(name => [
    `${name}{job="postgres"}`,
    '_x120',
  ])
  const backup = { 'ponte_backup_last_success_timestamp_seconds{job="host"}': '_x120', 'up{job="host"}': '_x120' }
  const on = (series: Series): Series => ({ ...Object.fromEntries(unknown), ...backup, ...series })
  const scenarios: Scenario[] = [
    { changed: on({ 'cnpg_collector_up{pod="a"}': '1x9 0x60' }), firing: { 40: ['PontePostgresAway'] } },
    {
      changed: on({ 'cnpg_pg_stat_archiver_failed_count{pod="a"}': '0+1x120', 'cnpg_pg_stat_archiver_archived_count{pod="a"}': '3x120' }),
      firing: { 40: ['PonteArchiveFails'] },
    },
    {
      changed: on({ 'barman_cloud_cloudnative_pg_io_last_available_backup_timestamp{pod="a"}': '-200000x120' }),
      firing: { 40: ['PonteBackupOld'] },
    },
  ]
  expect(evaluate('kubernetes', scenarios)).toBe('')
})

it('a PostgreSQL that stands still is named, although its exporter has no metrics then', () => {
  const changed = { 'pg_up{job="postgres"}': '1x9 stale _x60', ...ofEach('ponte_database_answers', '1x9 0x60') }
  expect(evaluate('postgres-stands', [{ changed, firing: { 9: [], 11: ['PontePostgresAway'] } }])).toBe('')
})

it('a replica that answers no scrape is named, also one that no gateway asks', () => {
  const changed = { 'up{job="ponte",service="api-gateway",instance="one"}': '1x9 0x60' }
  expect(evaluate('replica-stands', [{ changed, firing: { 9: [], 12: ['PonteReplicaSilent'] } }])).toBe('')
})

it.each(['chain-listener', 'relayer'])('the %s of one network is missed while that of another is there', service => {
  const changed = { [`ponte_database_connections_max{service="${service}",chain_id="10"}`]: '10x9 stale _x60' }
  expect(evaluate(`${service}-away`, [{ changed, firing: { 9: [], 40: ['PonteServiceAway'] } }])).toBe('')
})

it('a backup that never succeeded is one that is too old', () => {
  const changed = { 'ponte_backup_last_success_timestamp_seconds{job="host"}': '_x120' }
  expect(evaluate('no-backup', [{ changed, firing: { 40: ['PonteBackupOld'] } }])).toBe('')
})

it('each has a section of the incidents, in the same order', () => {
  const page = 'docs/operating/incidents.md'
  const sections = [...readFileSync(join(__dirname, '../..', page), 'utf8').matchAll(/^## (Ponte\w+)$/gm)].map(([, name]) => name)
  expect(sections).toEqual(alerts.map(({ alert }) => alert))
  expect(alerts.map(({ annotations }) => annotations.runbook_url)).toEqual(
    sections.map(name => `{{ $externalLabels.runbooks }}/${page}#${name?.toLowerCase()}`),
  )
})

it.each(alerts.map(({ alert, annotations }) => [alert, annotations] as const))('%s names what to do first', (_, annotations) => {
  expect(annotations.runbook.length).toBeGreaterThan(20)
  expect(annotations.summary.length).toBeGreaterThan(20)
})

it('each page names in one line why someone is woken by it; the others are tickets', () => {
  const pages = alerts.filter(({ labels }) => labels.severity === 'page')
  for (const { alert, annotations } of pages)
    expect([alert, annotations.paged_because]).toEqual([alert, expect.stringMatching(/^.{15,140}$/)])
  expect(
    alerts.filter(({ labels, annotations }) => labels.severity !== 'page' && annotations.paged_because).map(({ alert }) => alert),
  ).toEqual([])
})

describe('several installations in one Prometheus', () => {
  const at = (installation: string, series: Series): Series =>
    Object.fromEntries(Object.entries(series).map(([name, values]) => [name.replace('{', `{installation="${installation}",`), values]))
  it('do not keep each other`s alerts silent', () => {
    const scenarios = [['', {}] as const, ...Object.entries(conditions).filter(([name]) => FIRES_AT[name] === undefined)].map(
      ([name, changed]) => ({
        series: { ...at('staging', well), ...at('production', { ...well, ...changed }) },
        firing: { 40: name === '' ? [] : [name] },
      }),
    )
    expect(evaluate('both', scenarios, [{ installation: 'production' }])).toBe('')
  }, 300_000)
})

describe('several networks in one installation', () => {
  const isOfChain = ([name]: [string, string]) => name.includes('service="chain-listener"')
  /** As the listener of one network shows them. */
  const on = (chainId: number, series: Series): Series =>
    Object.fromEntries(
      Object.entries(series)
        .filter(isOfChain)
        .map(([name, values]) => [name.replace(/,chain_id="\d+"/, '').replace('}', `,chain_id="${chainId}"}`), values]),
    )
  const listener = Object.fromEntries(Object.entries(well).filter(([name]) => !/chain_id="(?!8453)/.test(name)))
  const others = Object.fromEntries(Object.entries(well).filter(one => !isOfChain(one)))

  it('do not keep each other`s alerts silent, and each alert names its own', () => {
    const ofChains = Object.entries(conditions).filter(
      ([name, changed]) => Object.entries(changed).every(isOfChain) && FIRES_AT[name] === undefined,
    )
    const scenarios = ofChains.map(([name, changed]) => ({
      series: { ...others, ...on(10, { ...listener, ...changed }), ...on(8453, { ...listener, ...changed }) },
      firing: { 40: [name] },
    }))
    expect(evaluate('networks', scenarios, [{ chain_id: '10' }, { chain_id: '8453' }])).toBe('')
  }, 300_000)
})
