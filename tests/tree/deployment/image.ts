import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

// Without a Docker engine: the same instructions as infra/Dockerfile's, carried out in clean folders. The set-up that the recipe begins with is
// the one that was done here before the tests; PONTE_TEST_IMAGES=1 does it again, in a clean copy of the context.
export const fromScratch = process.env.PONTE_TEST_IMAGES !== undefined
const root = join(__dirname, '../../..')

interface Stage {
  root: string
  folder: string
  env: Record<string, string>
}

const instructions = readFileSync(join(root, 'infra/Dockerfile'), 'utf8')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter(line => line && !line.startsWith('#'))
  .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)

/** The build context: what git would commit, without what the ignore file names. */
function copyContext(target: string): void {
  const files = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  }).stdout.split('\n')
  for (const file of files) {
    if (!file || /(^|\/)(test|\.ci)\/|^tests\/.*\/|\.test\.ts$/.test(file)) continue
    const from = join(root, file)
    if (spawnSync('test', ['-f', from]).status !== 0) continue
    mkdirSync(dirname(join(target, file)), { recursive: true })
    cpSync(from, join(target, file))
  }
}

/** Carries the recipe out for one service and answers the final stage. Stages that do not depend on the service are kept between calls. */
function build(service: string, folder: string, kept: Map<string, Stage>): Stage {
  const args: Record<string, string> = { SERVICE: service }
  const stages = new Map<string, Stage>()
  let stage: Stage = { root: folder, folder, env: {} }
  let name = ''
  let reused = false
  const inside = (path: string, of = stage) => (isAbsolute(path) ? join(of.root, path) : join(of.folder, path))
  const expand = (text: string) => text.replace(/\$\{?(\w+)\}?/g, (_, key: string) => args[key] ?? stage.env[key] ?? '')
  for (const [instruction, rest] of instructions) {
    if (instruction === 'FROM') {
      name = /AS (\w+)/.exec(rest)?.[1] ?? 'final'
      const known = kept.get(name)
      reused = known !== undefined
      const stageRoot = join(folder, `${name}-${service}`)
      stage = known ?? { root: stageRoot, folder: stageRoot, env: {} }
      stages.set(name, stage)
    } else if (instruction === 'ARG' && rest === 'SERVICE') {
      if (name === 'build') kept.set(name, { ...stage })
      reused = false
      stage.env.SERVICE = service
    } else if (reused) continue
    else if (instruction === 'WORKDIR') {
      stage.folder = inside(rest)
      mkdirSync(stage.folder, { recursive: true })
    } else if (instruction === 'COPY') {
      const from = /--from=(\w+) /.exec(rest)?.[1]
      const [source = '', target = ''] = rest.replace(/--from=\w+ /, '').split(' ')
      if (!from) copyContext(inside(target))
      else cpSync(inside(source, stages.get(from) ?? kept.get(from)), inside(target), { recursive: true, verbatimSymlinks: true })
    } else if (instruction === 'ENV') {
      for (const [, key = '', value = ''] of expand(rest).matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value
    } else if (instruction === 'RUN' && !rest.includes('chown')) {
      const command = rest.replace(/ \/app\b/g, ` ${join(stage.root, 'app')}`)
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS, ...stage.env }
      const ran = spawnSync('/bin/sh', ['-c', command], { cwd: stage.folder, env, encoding: 'utf8', maxBuffer: 64 << 20 })
      if (ran.status !== 0) throw new Error(`RUN ${rest}\n${ran.stdout}\n${ran.stderr}`)
    }
  }
  return stage
}

const arrayIn = (text = '[]'): string[] => JSON.parse(/\[.*\]/.exec(text)?.[0] ?? '[]')
const instruction = (wanted: string) => instructions.find(([each]) => each === wanted)?.[1]

/** Run by a container engine; the health check is asked for whether the container is healthy. */
export const entryPoint = arrayIn(instruction('ENTRYPOINT'))
export const healthCheck = arrayIn(instruction('HEALTHCHECK'))

/** Builds images below the folder; the work that they share is done once. */
export function imageBuilder(folder: string): (service: string) => Pick<Stage, 'folder' | 'env'> {
  const kept = new Map<string, Stage>()
  if (!fromScratch) kept.set('build', { root: join(folder, 'build'), folder: root, env: {} })
  return service => build(service, folder, kept)
}
