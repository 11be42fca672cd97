import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { environmentText } from './make-env.mjs'

// Writes what is made from infra/prometheus/alerts.yaml and from the list of panels below: the PrometheusRule of the production overlay, the
// Grafana dashboard and .env.example. `npm run check` fails when they are not what this would write:  node infra/make-derived.mjs
const here = import.meta.dirname
const rows = [
  [
    'Money',
    [
      ['Orders by transition', 'ops', { '{{from}} to {{to}}': 'sum by (from, to) (rate(ponte_order_transitions_total[5m]))' }],
      ['Age of the exchange rate', 's', { age: 'max(ponte_quote_age_seconds)' }],
      ['Behind the chain', 's', { '{{chain_id}}': 'max by (chain_id) (ponte_chain_lag_seconds)' }],
      [
        'Blocks',
        'none',
        {
          '{{chain_id}} head': 'max by (chain_id) (ponte_chain_head_block)',
          '{{chain_id}} scanned': 'max by (chain_id) (ponte_chain_scanned_block)',
          '{{chain_id}} confirmed': 'max by (chain_id) (ponte_chain_confirmed_block)',
        },
      ],
      ['Payments published', 'ops', { '{{type}}': 'sum by (type) (rate(ponte_chain_payments_total[5m]))' }],
      ['Payments that settle nothing', 'ops', { '{{reason}}': 'sum by (reason) (rate(ponte_unmatched_payments_total[5m]))' }],
    ],
  ],
  [
    'Webhooks',
    [
      ['Attempts by outcome', 'ops', { '{{outcome}}': 'sum by (outcome) (rate(ponte_webhook_attempts_total[5m]))' }],
      ['Deliveries that ended', 'ops', { '{{status}}': 'sum by (status) (rate(ponte_webhook_deliveries_total[5m]))' }],
      ['Oldest that is due', 's', { age: 'max(ponte_webhook_oldest_due_age_seconds)' }],
      ['Backlog and in flight', 'none', { backlog: 'max(ponte_webhook_backlog)', 'in flight': 'sum(ponte_webhook_in_flight)' }],
      [
        'Time to the first attempt',
        's',
        { p99: 'histogram_quantile(0.99, sum by (le) (rate(ponte_webhook_first_attempt_delay_seconds_bucket[5m])))' },
      ],
      ['Time of an attempt', 's', { p99: 'histogram_quantile(0.99, sum by (le) (rate(ponte_webhook_attempt_seconds_bucket[5m])))' }],
    ],
  ],
  [
    'Requests',
    [
      [
        'Answers by status',
        'reqps',
        { '{{service}} {{status}}': 'sum by (service, status) (rate(ponte_http_request_duration_seconds_count[5m]))' },
      ],
      [
        'Slowest routes, p99',
        's',
        {
          '{{service}} {{route}}':
            'topk(5, histogram_quantile(0.99, sum by (service, route, le) (rate(ponte_http_request_duration_seconds_bucket[5m]))))',
        },
      ],
      ['Checkout streams', 'none', { open: 'sum(ponte_live_streams)' }],
    ],
  ],
  [
    'Events and databases',
    [
      ['Oldest unsent event', 's', { '{{service}}': 'max by (service) (ponte_outbox_oldest_age_seconds)' }],
      ['Published', 'ops', { '{{service}} {{outcome}}': 'sum by (service, outcome) (rate(ponte_outbox_published_total[5m]))' }],
      ['Handled', 'ops', { '{{service}} {{outcome}}': 'sum by (service, outcome) (rate(ponte_events_handled_total[5m]))' }],
      ['Waiting in the queue', 'none', { '{{service}}': 'max by (service) (ponte_queue_waiting)' }],
      [
        'Time to handle, p99',
        's',
        { '{{service}} {{type}}': 'histogram_quantile(0.99, sum by (service, type, le) (rate(ponte_event_handling_seconds_bucket[5m])))' },
      ],
      [
        'Connections at work',
        'percentunit',
        { '{{service}}': 'sum by (service) (ponte_database_connections_used) / sum by (service) (ponte_database_connections_max)' },
      ],
      ['Statements that wait for a connection', 'none', { '{{service}}': 'sum by (service) (ponte_database_connections_awaited)' }],
    ],
  ],
]

const WIDTH = 8
const HEIGHT = 7

function dashboard() {
  let y = 0
  const panels = rows.flatMap(([title, charts]) => {
    const row = { type: 'row', title, collapsed: false, gridPos: { x: 0, y: y++, w: 24, h: 1 }, panels: [] }
    const placed = charts.map(([name, unit, queries], index) => ({
      type: 'timeseries',
      title: name,
      datasource: { type: 'prometheus', uid: '$source' },
      gridPos: { x: (index % 3) * WIDTH, y: y + Math.floor(index / 3) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: unit === 'none' ? undefined : 0 }, overrides: [] },
      targets: Object.entries(queries).map(([legendFormat, expr], at) => ({ refId: String.fromCharCode(65 + at), expr, legendFormat })),
    }))
    y += Math.ceil(charts.length / 3) * HEIGHT
    return [row, ...placed]
  })
  return {
    uid: 'ponte',
    title: 'Ponte',
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'source', type: 'datasource', query: 'prometheus', label: 'Prometheus' }] },
    panels: panels.map((panel, index) => ({ id: index + 1, ...panel })),
  }
}

const alerts = parse(readFileSync(join(here, 'prometheus/alerts.yaml'), 'utf8'))
const rule = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata: { name: 'ponte' }, spec: alerts }

/** Each derived file and what belongs into it. */
export const derived = {
  '.env.example': environmentText(() => ''),
  'infra/grafana/ponte.json': `${JSON.stringify(dashboard(), null, 2)}\n`,
  'infra/kubernetes/overlays/production/alerts.yaml': `# Made from infra/prometheus/alerts.yaml by infra/make-derived.mjs.\n${stringify(rule, { lineWidth: 0 })}`,
}

if (process.argv[1] === import.meta.filename)
  for (const [path, text] of Object.entries(derived)) writeFileSync(join(here, '..', path), text)
