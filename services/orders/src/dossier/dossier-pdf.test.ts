import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import type { SignedDossier } from '@ponte/contracts'
import { signedPdf } from './dossier-pdf'
import { PAGE, widthOf, wrapped } from './pdf'
import { dossierSigner, signedDossier } from './signing'

const signer = dossierSigner('07'.repeat(32))
const recorded: SignedDossier = JSON.parse(readFileSync(join(__dirname, '../../../../packages/cli/test/recorded/dossier.signed'), 'utf8'))
const many = (count: number): SignedDossier => {
  const { dossier } = recorded
  const origins = Array.from({ length: count }, (_, index) => ({ ...dossier.origins[index % dossier.origins.length], sequence: index + 1 }))
  return signedDossier({ ...dossier, origins: origins as SignedDossier['dossier']['origins'] }, signer)
}

/** Texts that are shown, by the objects of the file alone. */
function shownIn(file: Buffer): { x: number; y: number; size: number; font: string; text: string }[] {
  const latin = file.toString('latin1')
  return [...latin.matchAll(/\/Length (\d+)\/Filter\/FlateDecode>>\nstream\n/g)].flatMap(match => {
    const start = match.index + match[0].length
    const content = inflateSync(file.subarray(start, start + Number(match[1]))).toString('latin1')
    return [...content.matchAll(/BT (\/F\d) ([\d.]+) Tf ([\d.]+) ([\d.-]+) Td <([0-9a-f]*)> Tj ET/g)].map(
      ([, font = '', size, x, y, hex = '']) => ({
        ...{ font, size: Number(size), x: Number(x), y: Number(y), text: Buffer.from(hex, 'hex').toString('latin1') },
      }),
    )
  })
}

it('shows every hash and address whole and on the page', async () => {
  const file = await signedPdf(recorded, signer)
  const shown = shownIn(file)
  const texts = shown.map(({ text }) => text)
  for (const { tx_hash, block_hash } of recorded.dossier.transactions) {
    expect(texts).toContain(`tx ${tx_hash}`)
    expect(texts).toContain(`block ${block_hash}`)
  }
  for (const { address } of recorded.dossier.payout_addresses) expect(texts).toContain(address)
  const fonts = { '/F0': 'plain', '/F1': 'bold', '/F2': 'mono' } as const
  for (const { x, y, size, font, text } of shown) {
    expect(x + widthOf(text, size, fonts[font as keyof typeof fonts])).toBeLessThanOrEqual(PAGE.width - PAGE.margin + 1)
    expect(y).toBeGreaterThan(10)
  }
})

it('ends as readers look for it, with a table of objects that is right', async () => {
  const file = await signedPdf(many(40), signer)
  const tail = file.subarray(-1024).toString('latin1')
  const start = Number(/startxref\n(\d+)\n%%EOF\n%ponte-signature:/.exec(tail)?.[1])
  const table = file.subarray(start).toString('latin1')
  const offsets = [...table.matchAll(/(\d{10}) 00000 n \n/g)].map(([, offset]) => Number(offset))
  expect(offsets.length).toBeGreaterThan(8)
  for (const [index, offset] of offsets.entries())
    expect(file.subarray(offset, offset + 12).toString('latin1')).toMatch(new RegExp(`^${index + 1} 0 obj\n`))
})

it('writes what no font of a reader has as a question mark, and breaks no object by a text of others', async () => {
  const odd = structuredClone(recorded)
  const [origin] = odd.dossier.origins.filter(({ order }) => order !== null)
  if (!origin?.order) throw new Error('no origin has an order')
  origin.order.external_ref = 'Pão (1) \\ 漢字 ✓ “€”'
  origin.order.description = 'x'.repeat(500)
  const texts = shownIn(await signedPdf(odd, signer)).map(({ text }) => text)
  expect(texts.some(text => text.includes('P\u00e3o (1) \\ ?? ? \x93\x80\x94'))).toBe(true)
})

it('takes a thousand origins in less than a few seconds and little more memory than the file itself', async () => {
  const dossier = many(1_000)
  const before = process.memoryUsage().rss
  const start = performance.now()
  const file = await signedPdf(dossier, signer)
  const took = performance.now() - start
  const grown = process.memoryUsage().rss - before
  if (process.env.SHOW_COST)
    process.stdout.write(`${Math.round(took)} ms, ${Math.round(grown / 1e6)} MB, file ${Math.round(file.length / 1e3)} kB\n`)
  expect(took).toBeLessThan(20_000)
  expect(grown).toBeLessThan(file.length * 4 + 120_000_000)
  expect(shownIn(file).filter(({ text }) => text.startsWith('block ')).length).toBeGreaterThanOrEqual(1_000)
})

describe('a text', () => {
  it('is broken between words, and in one that is wider than the line', () => {
    expect(wrapped('aa bb cc', widthOf('aa bb', 10), 10)).toEqual(['aa bb', 'cc'])
    expect(wrapped('0123456789', widthOf('0123', 10, 'mono'), 10, 'mono')).toEqual(['0123', '4567', '89'])
    expect(wrapped('', 100, 10)).toEqual([])
  })
})
