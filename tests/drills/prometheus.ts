import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, requireProgram, spawnTied } from '@ponte/local-servers'
import { until } from '@ponte/service-kit'
import { stringify } from 'yaml'

/** A Prometheus that scrapes these ops ports as often as production's does and evaluates the rules of this checkout, or of another. */
export async function startPrometheus(opsUrls: readonly string[], root = join(__dirname, '../..')) {
  const program = await requireProgram('prometheus', 'prometheus', 'seeing which alerts fire')
  const folder = mkdtempSync(join(tmpdir(), 'ponte-prometheus-'))
  const port = await freePort()
  const config = {
    global: { scrape_interval: '15s', evaluation_interval: '15s' },
    rule_files: [join(root, 'infra/prometheus/alerts.yaml')],
    scrape_configs: [{ job_name: 'ponte', static_configs: [{ targets: opsUrls.map(url => new URL(url).host) }] }],
  }
  writeFileSync(join(folder, 'prometheus.yaml'), stringify(config))
  const args = [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const child = spawnTied(program, args, { endSignal: 'TERM' })
  child.stdout.resume()
  child.stderr.resume()
  const url = `http://127.0.0.1:${port}`
  await until(
    () =>
      fetch(`${url}/-/ready`).then(
        answer => answer.ok,
        () => false,
      ),
    'Prometheus does not start',
    60_000,
  )
  return {
    /** The names of the alerts that fire, each with the service concerned. */
    async firing(): Promise<string[]> {
      const answer = await fetch(`${url}/api/v1/alerts`)
      const { data } = (await answer.json()) as { data: { alerts: { state: string; labels: Record<string, string> }[] } }
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels: { alertname, service } }) => [alertname, service].filter(Boolean).join(' '))
    },
    async stop() {
      const ended = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
