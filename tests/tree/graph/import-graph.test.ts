import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

it('docs/architecture.md shows the imports as they are', () => {
  execFileSync(process.execPath, [join(__dirname, 'import-graph.mjs')], { stdio: 'pipe' })
})
