import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Types of packages/sdk, from the OpenAPI document that the gateway's code builds. The build writes them.

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')
const target = join(root, 'packages/sdk/src/artifacts/openapi.ts')
const { openApiDocument } = createRequire(import.meta.url)(join(root, 'services/api-gateway/dist/index.js'))

/** The document without answers and examples, which would be nine tenths of the types: the client needs schemas, bodies and queries. */
function reduced({ openapi, info, paths, components }) {
  const bare = operation => ({ ...operation, responses: { default: { description: 'See the schema of the same name.' } } })
  return {
    openapi,
    info: { title: info.title, version: info.version },
    paths: mapValues(paths, methods => mapValues(methods, bare)),
    components: { schemas: components.schemas, parameters: components.parameters },
  }
}

const mapValues = (object, change) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))

function generated() {
  const folder = mkdtempSync(join(tmpdir(), 'ponte-sdk-types-'))
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(reduced(openApiDocument({}))))
    const cli = join(dirname(createRequire(join(here, '../package.json')).resolve('openapi-typescript/package.json')), 'bin/cli.js')
    execFileSync(process.execPath, [cli, join(folder, 'openapi.json'), '-o', join(folder, 'openapi.ts')], { stdio: 'pipe' })
    return readFileSync(join(folder, 'openapi.ts'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

writeFileSync(target, generated())
