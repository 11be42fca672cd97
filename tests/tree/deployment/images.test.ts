import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const root = join(__dirname, '../../..')
const ALL = /^\s*(?:image: |imageName: |FROM (?=\S+:)(?!\$)|ARG NODE_IMAGE=)(\S+)/gm
const OWN = `ghcr.io/you/ponte/orders@sha256:${'d'.repeat(64)}`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ponte-pinned-'))
  for (const path of ['infra', 'docker-compose.yml']) cpSync(join(root, path), join(folder, path), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A stand-in for Docker, which asks registries: its digest of an image is made of its name and of `salt`. */
function pin(salt: string, ...images: string[]) {
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  const docker = join(bin, 'docker')
  writeFileSync(docker, `#!/bin/sh\nprintf 'sha256:%s\\n' "$(printf '%s' "${salt}$4" | sha256sum | cut -c1-64)"\n`)
  chmodSync(docker, 0o755)
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
  return spawnSync(process.execPath, [join(root, 'infra/pin-images.mjs'), ...images], { cwd: folder, env, encoding: 'utf8' })
}
const read = (path: string) => readFileSync(join(folder, path), 'utf8')
const found = () =>
  spawnSync('grep', ['-rlE', '^ *(image|imageName): |^(FROM|ARG NODE_IMAGE)', 'infra', 'docker-compose.yml'], {
    cwd: folder,
    encoding: 'utf8',
  })
    .stdout.split('\n')
    .filter(path => /\.ya?ml$|Dockerfile$/.test(path))
    .flatMap(path => [...read(path).matchAll(ALL)].map(([, image = '']) => image))
    .filter(image => !image.startsWith('ponte/'))

it('pin-images writes the digest of each image that is not made here, and replaces it when it runs again', () => {
  expect(found().filter(image => image.includes('@'))).toEqual([])
  const tags = found()
  expect(tags.length).toBeGreaterThan(8)
  expect(pin('one')).toMatchObject({ status: 0, stderr: '' })
  const first = found()
  expect(first.map(image => image.replace(/@sha256:[0-9a-f]{64}$/, ''))).toEqual(tags)
  for (const image of first) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/)
  expect(pin('two', OWN)).toMatchObject({ status: 0, stderr: '' })
  expect(found().filter(image => first.includes(image))).toEqual([])
  expect(found().map(image => image.replace(/@sha256:[0-9a-f]{64}$/, ''))).toEqual(tags)
  expect(read('infra/kubernetes/overlays/production/kustomization.yaml')).toContain(
    `{ name: ponte/orders, newName: ghcr.io/you/ponte/orders, digest: sha256:${'d'.repeat(64)} }`,
  )
})

it('pin-images writes nothing when one image is unknown', () => {
  const before = read('docker-compose.yml')
  expect(pin('three', 'ghcr.io/you/ponte/cashier@sha256:0').status).toBe(1)
  expect(read('docker-compose.yml')).toBe(before)
})
