import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

// The reference of packages/sdk at /docs/sdk, from its docstrings. The build writes it.

const sdk = join(dirname(fileURLToPath(import.meta.url)), '../src')
const target = join(sdk, '../../../services/api-gateway/src/docs/guide/artifacts/sdk-reference.ts')
const DOORS = { '@ponte/sdk': 'index', '@ponte/sdk/express': 'express', '@ponte/sdk/fetch': 'fetch', '@ponte/sdk/next': 'next' }
/** A longer type is named alone: its fields stand in the reference of the API. */
const TYPE_LINES_MAX = 12

const entries = Object.values(DOORS).map(name => join(sdk, `${name}.ts`))
const program = ts.createProgram(entries, {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  types: [],
})
const checker = program.getTypeChecker()

const docOf = symbol => ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim()
const isPrivate = node =>
  (node.name && ts.isPrivateIdentifier(node.name)) || (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private) !== 0

/** A declaration as a reader needs it: without its body. */
function signatureOf(node) {
  const text = node.getText()
  const end = 'body' in node && node.body ? node.body.getStart() - node.getStart() : text.length
  return text
    .slice(0, end)
    .replace(/^(export |declare |async |override )+/g, '')
    .replace(/\s+/g, ' ')
    .replace(/^\*?\[Symbol\.asyncIterator\]/, 'for await')
    .replace(/, \)/g, ')')
    .replace(/\( /g, '(')
    .trim()
}

function membersOf(node) {
  return node.members
    .filter(member => !isPrivate(member) && !ts.isSemicolonClassElement(member))
    .map(member => {
      const symbol = member.name && checker.getSymbolAtLocation(member.name)
      return { signature: signatureOf(member), text: symbol ? docOf(symbol) : '' }
    })
}

function described(exported) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  const node = symbol.declarations[0]
  const text = docOf(exported) || docOf(symbol)
  const source = { name: exported.name, text }
  if (ts.isClassDeclaration(node)) return { ...source, kind: 'class', members: membersOf(node) }
  if (ts.isInterfaceDeclaration(node)) return { ...source, kind: 'interface', members: membersOf(node) }
  if (ts.isFunctionDeclaration(node)) return { ...source, kind: 'function', signature: signatureOf(node), members: [] }
  if (ts.isTypeAliasDeclaration(node)) {
    const short = node.getText().split('\n').length <= TYPE_LINES_MAX
    return { ...source, kind: 'type', signature: short ? signatureOf(node) : `type ${exported.name}`, members: [] }
  }
  return { ...source, kind: 'value', signature: signatureOf(node).replace(/ = .*$/, ''), members: [] }
}

function reference() {
  const seen = new Set()
  return Object.entries(DOORS).map(([door, file]) => {
    const source = program.getSourceFile(join(sdk, `${file}.ts`))
    const own = checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map(described)
    const fresh = own.filter(({ name, kind }) => kind === 'function' || kind === 'value' || !seen.has(name))
    for (const { name } of own) seen.add(name)
    return { door, exports: fresh.sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name)) }
  })
}

const order = ({ kind }) => ['class', 'function', 'value', 'interface', 'type'].indexOf(kind)

mkdirSync(dirname(target), { recursive: true })
writeFileSync(target, `export const sdkReference = ${JSON.stringify(reference(), null, 2)}\n`)
