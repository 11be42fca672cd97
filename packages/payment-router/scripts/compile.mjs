// Compiles the contracts and writes their ABIs and bytecode as TypeScript, which reads the same under Jest and in dist.
// `--check` writes nothing and fails when a committed artifact differs from what the sources give.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const solc = require('solc')
const root = fileURLToPath(new URL('..', import.meta.url))

const groups = [
  { sources: 'contracts', artifacts: 'src/artifacts' },
  { sources: 'contracts/test', artifacts: 'test/artifacts' },
]

// Only the router creates these, from its own bytecode.
const neverDeployedAlone = ['DepositAddress']
// Their code on a chain is compared with these artifacts before it is trusted with money.
const verified = ['DepositAddress', 'PaymentRouter', 'RouterFactory']

const runtime = ['evm.deployedBytecode.object', 'evm.deployedBytecode.immutableReferences']

function settingsFor(sources) {
  return {
    evmVersion: 'cancun',
    optimizer: { enabled: true, runs: 10_000 },
    // Without the metadata, a comment changes no bytecode and the output is the same on every machine.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: {
      '*': { '': ['ast'] },
      ...Object.fromEntries(
        Object.keys(sources).map(path => [path, { '': ['ast'], '*': ['abi', 'devdoc', 'evm.bytecode.object', ...runtime] }]),
      ),
    },
  }
}

function readSources() {
  const sources = {}
  for (const group of groups) {
    for (const file of readdirSync(join(root, group.sources)).filter(name => name.endsWith('.sol'))) {
      sources[`${group.sources}/${file}`] = { content: readFileSync(join(root, group.sources, file), 'utf8') }
    }
  }
  return sources
}

function readImport(path) {
  try {
    return { contents: readFileSync(require.resolve(path), 'utf8') }
  } catch (error) {
    return { error: String(error) }
  }
}

function compile() {
  const sources = readSources()
  const input = { language: 'Solidity', sources, settings: settingsFor(sources) }
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }))
  const isOurs = fault => fault.sourceLocation === undefined || fault.sourceLocation.file.startsWith('contracts/')
  const faults = (output.errors ?? []).filter(fault => fault.severity === 'error' || (fault.severity === 'warning' && isOurs(fault)))
  if (faults.length > 0) throw new Error(faults.map(fault => fault.formattedMessage).join('\n'))
  const missing = verified.flatMap(name => {
    const path = `contracts/${name}.sol`
    return undocumented(name, output.contracts[path][name], sources[path].content)
  })
  if (missing.length > 0) throw new Error(`NatSpec has no @param for: ${missing.join(', ')}`)
  return { contracts: output.contracts, immutables: immutableNames(Object.values(output.sources).map(({ ast }) => ast)) }
}

/** The compiler refers to an immutable by the id of its declaration. */
function immutableNames(node, names = {}) {
  if (typeof node !== 'object' || node === null) return names
  if (node.nodeType === 'VariableDeclaration' && node.mutability === 'immutable') names[node.id] = node.name
  for (const child of Object.values(node)) immutableNames(child, names)
  return names
}

const typeOf = ({ type, components }) => (components ? type.replace('tuple', `(${components.map(typeOf).join()})`) : type)

/** The named parameters of what this source declares that NatSpec states nothing of. */
function undocumented(contract, { abi, devdoc }, source) {
  const documented = { function: devdoc.methods, constructor: devdoc.methods, event: devdoc.events, error: devdoc.errors }
  const declared = abi.filter(({ name = 'constructor' }) => source.includes(`${name}(`))
  return declared.flatMap(({ type, name = 'constructor', inputs = [] }) => {
    const found = documented[type]?.[type === 'constructor' ? type : `${name}(${inputs.map(typeOf).join()})`]
    const params = [found].flat()[0]?.params ?? {}
    return inputs.filter(input => input.name !== '' && params[input.name] === undefined).map(input => `${contract}.${name} ${input.name}`)
  })
}

const kebab = name => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
const camel = name => kebab(name).replace(/-(.)/g, (_, letter) => letter.toUpperCase())

function render(name, { abi, evm }, immutables) {
  const entries = abi.map(entry => `  ${JSON.stringify(entry)},\n`).join('')
  const parts = [`// Written by scripts/compile.mjs.\n\nexport const ${camel(name)}Abi = [\n${entries}] as const\n`]
  if (!neverDeployedAlone.includes(name)) parts.push(`export const ${camel(name)}Bytecode = '0x${evm.bytecode.object}'\n`)
  if (verified.includes(name)) parts.push(renderRuntime(name, evm.deployedBytecode, immutables))
  return parts.join('\n')
}

/** Code as it stands on a chain, with zeros for the immutables: 32 bytes each, from these positions. */
function renderRuntime(name, { object, immutableReferences }, immutables) {
  const places = Object.entries(immutableReferences).map(
    ([id, uses]) => `    ${immutables[id]}: [${uses.map(({ start }) => start).join(', ')}],\n`,
  )
  return `export const ${camel(name)}Runtime = {\n  code: '0x${object}',\n  immutables: {\n${places.sort().join('')}  },\n}\n`
}

function artifacts() {
  const { contracts, immutables } = compile()
  return groups.flatMap(group =>
    Object.entries(contracts)
      .filter(([path]) => path === `${group.sources}/${basename(path)}`)
      .flatMap(([, units]) => Object.entries(units))
      .filter(([, unit]) => unit.evm.bytecode.object !== '')
      .map(([name, unit]) => [join(group.artifacts, `${kebab(name)}.ts`), render(name, unit, immutables)]),
  )
}

function isStale([path, text]) {
  try {
    return readFileSync(join(root, path), 'utf8') !== text
  } catch {
    return true
  }
}

/** For a block explorer that verifies a contract: the compiler's input with every source that ours import. */
function standardJson() {
  const sources = readSources()
  const settings = settingsFor(sources)
  const collect = path => {
    const { contents, error } = readImport(path)
    if (contents === undefined) throw new Error(error)
    sources[path] = { content: contents }
    return { contents }
  }
  solc.compile(JSON.stringify({ language: 'Solidity', sources: { ...sources }, settings }), { import: collect })
  return { language: 'Solidity', sources, settings }
}

const stale = process.argv.includes('--standard-json') ? [] : artifacts().filter(isStale)
if (process.argv.includes('--standard-json')) {
  console.log(JSON.stringify(standardJson()))
} else if (process.argv.includes('--check')) {
  for (const [path] of stale)
    console.error(`${path} is not what the contracts compile to; run: node ${relative(process.cwd(), join(root, 'scripts/compile.mjs'))}`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const group of groups) mkdirSync(join(root, group.artifacts), { recursive: true })
  for (const [path, text] of stale) writeFileSync(join(root, path), text)
  console.log(stale.length === 0 ? 'artifacts are up to date' : stale.map(([path]) => `wrote ${path}`).join('\n'))
}
