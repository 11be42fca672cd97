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
    if (!file || /(^|\/)(test|\.ci)\/|^tests\/(?!audit\/|simulation\/oracle\.ts$).*\/|\.test\.ts$/.test(file)) continue
    const from = join(root, file)
    if (spawnSync('test', ['-f', from]).status !== 0) continue
    mkdirSync(dirname(join(target, file)), { recursive: true })
    cpSync(from, join(target, file))
  }
}

const OPS = 'ops'

/** The stages that a target is made of, and those only. */
function stagesOf(target: string): ReadonlySet<string> {
  const stages = new Map<string, string[]>()
  let name = ''
  for (const [instruction, rest] of instructions) {
    if (instruction === 'FROM') {
      name = nameOf(rest)
      stages.set(name, [])
    }
    const [, from] = /^(?:--from=)?(\w+) /.exec(rest) ?? []
    if (from && (instruction === 'FROM' || instruction === 'COPY')) stages.get(name)?.push(from)
  }
  const wanted = new Set([target])
  for (const each of wanted) for (const from of stages.get(each) ?? []) if (stages.has(from)) wanted.add(from)
  return wanted
}
const nameOf = (from: string) => /AS (\w+)/.exec(from)?.[1] ?? 'final'

/** Carries the recipe out for one service, or for the operator's commands, and answers the last stage. What does not depend on the service is kept between calls. */
function build(service: string, folder: string, kept: Map<string, Stage>): Stage {
  const target = service === OPS ? OPS : 'final'
  const wanted = stagesOf(target)
  const args: Record<string, string> = { SERVICE: service }
  const stages = new Map<string, Stage>()
  let stage: Stage = { root: folder, folder, env: {} }
  let name = ''
  let isDue = false
  const inside = (path: string, of = stage) => (isAbsolute(path) ? join(of.root, path) : join(of.folder, path))
  const expand = (text: string) => text.replace(/\$\{?(\w+)\}?/g, (_, key: string) => args[key] ?? stage.env[key] ?? '')
  for (const [instruction, rest] of instructions) {
    if (instruction === 'FROM') {
      if (name === 'build') kept.set(name, stage)
      name = nameOf(rest)
      const known = kept.get(name)
      isDue = known === undefined && wanted.has(name)
      const stageRoot = join(folder, `${name}-${service}`)
      const base = kept.get(rest.split(' ')[0] ?? '')
      stage = known ?? { root: stageRoot, folder: base?.folder ?? stageRoot, env: {} }
      stages.set(name, stage)
    } else if (!isDue) continue
    else if (instruction === 'ARG' && rest === 'SERVICE') stage.env.SERVICE = service
    else if (instruction === 'WORKDIR') {
      stage.folder = inside(rest)
      mkdirSync(stage.folder, { recursive: true })
    } else if (instruction === 'COPY') {
      const from = /--from=(\w+) /.exec(rest)?.[1]
      const [source = '', target = ''] = rest.replace(/--from=\w+ /, '').split(' ')
      if (!from) copyContext(inside(target))
      else cpSync(inside(source, stages.get(from)), inside(target), { recursive: true, verbatimSymlinks: true })
    } else if (instruction === 'ENV') {
      for (const [, key = '', value = ''] of expand(rest).matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value
    } else if (instruction === 'RUN' && !rest.includes('chown')) {
      const command = rest.replace(/ \/app\b/g, ` ${join(stage.root, 'app')}`)
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS, ...stage.env }
      const ran = spawnSync('/bin/sh', ['-c', command], { cwd: stage.folder, env, encoding: 'utf8', maxBuffer: 64 << 20 })
      if (ran.status !== 0) throw new Error(`RUN ${rest}\n${ran.stdout}\n${ran.stderr}`)
    }
  }
  return stages.get(target) ?? stage
}

const arrayIn = (text = '[]'): string[] => JSON.parse(/\[.*\]/.exec(text)?.[0] ?? '[]')
const instruction = (wanted: string) => instructions.findLast(([each]) => each === wanted)?.[1]

/** Run by a container engine; the health check is asked for whether the container is healthy. */
export const entryPoint = arrayIn(instruction('ENTRYPOINT'))
export const healthCheck = arrayIn(instruction('HEALTHCHECK'))

/** Builds images below the folder; the work that they share is done once. */
export function imageBuilder(folder: string): (service: string) => Pick<Stage, 'folder' | 'env'> {
  const kept = new Map<string, Stage>()
  if (!fromScratch) kept.set('build', { root: join(folder, 'build'), folder: root, env: {} })
  return service => build(service, folder, kept)
}
