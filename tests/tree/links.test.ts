import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { filesOf } from './tracked-files'

// Every target of a document's or comment's link exists: a broken link costs each reader the search that its author saved themselves.

const root = resolve(__dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = filesOf(root)
const documents = files.filter(path => path.endsWith('.md'))
const sources = files.filter(path => /\.(ts|tsx|css|mjs|cjs|js|sol|prisma|sql|ya?ml|json|sh)$/.test(path) && path !== 'pnpm-lock.yaml')

const withoutCode = (text: string) => text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '')

/** The anchors of a page as a forge makes them from its headings. */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>()
  const headings = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, '').matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)
  const anchors = [...headings].map(([, heading = '']) => {
    const slug = heading
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${times}`
  })
  return new Set([...anchors, ...[...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = '']) => id)])
}

function faultOf(path: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, path))) return `${path} does not exist`
  if (!anchor || !path.endsWith('.md') || anchorsOf(read(path)).has(anchor)) return undefined
  return `${path} has no heading of the anchor #${anchor}`
}

describe.each(documents)('%s', document => {
  test('links to what exists', () => {
    const links = [...withoutCode(read(document)).matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\[[^\]]+\]:\s*(\S+)/gm)]
    const faults = links
      .map(([, inline, reference]) => inline ?? reference ?? '')
      .filter(target => !/^[a-z][a-z+.-]*:/i.test(target))
      .flatMap(target => {
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? document : relative(root, resolve(root, dirname(document), decodeURI(path)))
        return faultOf(file, anchor) ?? []
      })
    expect(faults).toEqual([])
  })
})

test('a document that a source names exists', () => {
  const named = sources.flatMap(source =>
    [...read(source).matchAll(/(?<![\w/.-])(docs\/[\w/.-]+\.(?:md|png))(?:#([\w-]+))?/g)].map(([, path = '', anchor]) => ({
      source,
      path,
      anchor,
    })),
  )
  expect(named.length).toBeGreaterThan(0)
  expect(
    named.flatMap(({ source, path, anchor }) => {
      const fault = faultOf(path, anchor)
      return fault ? [`${source}: ${fault}`] : []
    }),
  ).toEqual([])
})

test('a command that a document names exists', () => {
  const scriptsOf = (folder: string): object => {
    const manifest = join(folder, 'package.json')
    return existsSync(join(root, manifest)) ? JSON.parse(read(manifest)).scripts : {}
  }
  const missing = documents.flatMap(document => {
    const scripts = { ...scriptsOf('.'), ...scriptsOf(dirname(document)) }
    const named = [...read(document).matchAll(/\bnpm run (?!-)([\w:-]+)/g)].map(([, name = '']) => name)
    return named.filter(name => !(name in scripts)).map(name => `${document}: npm run ${name}`)
  })
  expect(missing).toEqual([])
})
