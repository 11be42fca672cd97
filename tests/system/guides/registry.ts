import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startHttpServer } from '@ponte/local-servers'

const root = join(__dirname, '../../..')

/** A registry of the SDK and the command line alone, as they would be published; everything else comes from npm's. */
export async function startRegistry(folder: string) {
  const tarballs = new Map<string, Buffer>()
  const manifests = ['sdk', 'cli'].map(name => {
    const source = join(root, 'packages', name)
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: source, stdio: 'pipe' })
    const file = readdirSync(folder).find(each => each.startsWith(`ponte-${name}-`)) ?? ''
    tarballs.set(`/${file}`, readFileSync(join(folder, file)))
    return { file, manifest: JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) }
  })
  const { url, stop } = await startHttpServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    const tarball = tarballs.get(path)
    if (tarball) return response.end(tarball)
    const found = manifests.find(({ manifest }) => path === `/${manifest.name}`)
    if (!found) return response.writeHead(404).end('{}')
    const { manifest, file } = found
    const integrity = `sha512-${createHash('sha512')
      .update(tarballs.get(`/${file}`) ?? '')
      .digest('base64')}`
    const version = { ...manifest, dist: { tarball: `${url}/${file}`, integrity } }
    const packument = { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: version } }
    return response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(packument))
  })
  return { url, stop }
}
