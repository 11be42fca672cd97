import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Draws the import graphs of docs/architecture.md from the imports themselves. `npm run graph` writes them; a test compares.

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../../..')
const page = join(root, 'docs/architecture.md')

const graphs = {
  workspace: { of: '^(packages|services)/[^/]+/src', collapse: '^(packages|services)/[^/]+', folders: ['packages', 'services'] },
  'chain-listener': {
    of: '^services/chain-listener/src',
    collapse: '^services/chain-listener/src/[^/]+',
    folders: ['services/chain-listener/src'],
  },
}

const draw = ({ of, collapse, folders }) =>
  execFileSync(
    join(here, '../../node_modules/.bin/depcruise'),
    ['--config', join(here, 'import-graph.cjs'), '--output-type', 'mermaid', '--collapse', collapse, ...folders],
    { cwd: root, env: { ...process.env, GRAPH_OF: of }, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 },
  ).trim()

const block = name => new RegExp(`(<!-- graph: ${name} -->\\n\`\`\`mermaid\\n)[^]*?(\\n\`\`\`)`)

/** The page as it should be. */
export function withGraphs(text) {
  return Object.entries(graphs).reduce((drawn, [name, graph]) => {
    if (!block(name).test(drawn)) throw new Error(`docs/architecture.md has no block "<!-- graph: ${name} -->".`)
    return drawn.replace(block(name), (_, before, after) => `${before}${draw(graph)}${after}`)
  }, text)
}

const text = readFileSync(page, 'utf8')
const drawn = withGraphs(text)
if (process.argv.includes('--write')) writeFileSync(page, drawn)
else if (drawn !== text) {
  process.stderr.write('docs/architecture.md does not show the imports as they are: run `npm run graph`.\n')
  process.exitCode = 1
}
