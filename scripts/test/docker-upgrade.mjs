import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../develop/setup.mjs'
import { StepError } from '../develop/steps.mjs'
import { SERVICES, withPayments } from './docker-faults.mjs'
import { SETTINGS, withInstallation } from './docker-installation.mjs'

// npm run docker-trial -- --upgrade [COMMIT]: an installation as that commit's own files build and start it becomes this release as infra/compose/README.md has it, goes back, and becomes it again, while orders
// are made and paid.

const { commit: RELEASE_BEFORE } = JSON.parse(readFileSync(join(root, 'tests/releases/before.json'), 'utf8'))
const COMPOSE_FILE = 'docker-compose.yml:infra/compose/production.yml'

const gatewayWarnings = async compose => {
  const { output } = await compose('logs', '--no-log-prefix', '--since', '2m', 'api-gateway')
  return output
    .split('\n')
    .filter(line => /"level":"(?:warn|error)"/.test(line))
    .join('\n')
}

export const upgrade = (commit = RELEASE_BEFORE) =>
  withInstallation(async installation => {
    const { env, run, set, compose, allIsWell, findKey } = installation
    const must = async (program, ...args) => {
      const since = Date.now()
      const { code, output } = await run(program, args)
      if (code !== 0) throw new StepError(`${program} ${args.join(' ')}\n${output.trim().split('\n').slice(-30).join('\n')}`)
      console.log(`   ${program} ${args.join(' ')}: ${Math.round((Date.now() - since) / 1000)} s`)
    }
    const release = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
    env.COMPOSE_FILE = COMPOSE_FILE
    await must('git', 'checkout', '--quiet', commit)
    await must('node', 'infra/make-env.mjs')
    set(SETTINGS)
    await must('docker', 'compose', '--profile', 'ops', 'build')
    await must('docker', 'compose', 'up', '--detach')
    await allIsWell()
    const apiKey = await findKey()
    const wrong = await withPayments({ ...installation, apiKey }, async (traffic, found) => {
      const roll = async (title, services) => {
        const before = traffic.counts()
        const since = Date.now()
        for (const service of services) {
          const seen = traffic.counts().failed
          await must('infra/compose/ops', 'roll', service, '--yes')
          // The next roll may take the gateway, and its log with it.
          if (traffic.counts().failed > seen) console.log(await gatewayWarnings(compose))
        }
        await allIsWell()
        const { made, failed } = traffic.counts()
        const figures = `${made - before.made} orders, ${failed - before.failed} failed`
        console.log(`${failed === before.failed ? '✓' : '✗'}  ${title}: ${Math.round((Date.now() - since) / 1000)} s, ${figures}`)
        found.push(...traffic.failedSince(before.failed))
      }
      await must('git', 'checkout', '--quiet', release)
      set({ PONTE_VERSION: 'next' })
      await must('docker', 'compose', '--profile', 'ops', 'build')
      await roll(`from ${commit} to this release`, SERVICES)
      await must('docker', 'compose', 'restart', 'prometheus')
      set({ PONTE_VERSION: 'local' })
      await roll('back', SERVICES.toReversed())
      set({ PONTE_VERSION: 'next' })
      await roll('and to this release again', SERVICES)
      const { output } = await compose('ps', '--format', '{{ .Image }} {{ .State }}')
      console.log(output)
    })
    if (wrong.length > 0) throw new StepError(`Failed:\n${wrong.slice(0, 10).join('\n')}`)
  })
