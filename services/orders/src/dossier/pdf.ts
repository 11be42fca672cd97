import { promisify } from 'node:util'
import { deflate } from 'node:zlib'

const compress = promisify(deflate)

export type Font = 'plain' | 'bold' | 'mono'
const FONTS: Record<Font, string> = { plain: 'Helvetica', bold: 'Helvetica-Bold', mono: 'Courier' }

/** A piece of a line: where it begins, from the left edge and from the top of its block. */
export interface Mark {
  text: string
  x: number
  y: number
  size: number
  font?: Font
}

/** Lines that stay together on a page. */
export interface Block {
  height: number
  marks: readonly Mark[]
  isRuled?: boolean
}

/** A4 in points. */
export const PAGE = { width: 595, height: 842, margin: 40 }
const FOOT = 24

/**
 * A document of the fonts that every reader brings, page by page: nothing but the page under way is in memory. Its characters are those of Windows-1252, any
 * other is a question mark. A library for this is larger than everything else that orders installs. `comment` stands in front of the table of objects, as one line.
 */
export async function* pdf(
  title: string,
  blocks: Iterable<Block>,
  foot: (page: number) => string,
  comment: Buffer,
): AsyncGenerator<Buffer> {
  let offset = 0
  const offsets: number[] = []
  const written = (bytes: Buffer): Buffer => {
    offset += bytes.length
    return bytes
  }
  const object = (id: number, body: string, stream?: Buffer): Buffer => {
    offsets[id] = offset
    const parts = stream ? [Buffer.from('\nstream\n'), stream, Buffer.from('\nendstream')] : []
    return written(Buffer.concat([Buffer.from(`${id} 0 obj\n${body}`), ...parts, Buffer.from('\nendobj\n')]))
  }
  // Bytes that are no text, so that no program takes the file for one.
  yield written(Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1'))
  yield object(1, '<</Type/Catalog/Pages 2 0 R/Lang(pt-BR)>>')
  yield object(3, `<</Title ${hexText(title)}/Producer(Ponte)>>`)
  const fonts = Object.values(FONTS)
  for (const [index, name] of fonts.entries())
    yield object(4 + index, `<</Type/Font/Subtype/Type1/BaseFont/${name}/Encoding/WinAnsiEncoding>>`)
  const resources = `<</Font<<${fonts.map((_, index) => `/F${index} ${4 + index} 0 R`).join('')}>>>>`
  const pages: number[] = []
  let next = 4 + fonts.length
  for (const content of pagesOf(blocks, foot)) {
    const stream = await compress(Buffer.from(content, 'latin1'))
    yield object(next, `<</Length ${stream.length}/Filter/FlateDecode>>`, stream)
    const box = `[0 0 ${PAGE.width} ${PAGE.height}]`
    yield object(next + 1, `<</Type/Page/Parent 2 0 R/MediaBox${box}/Resources${resources}/Contents ${next} 0 R>>`)
    pages.push(next + 1)
    next += 2
  }
  yield object(2, `<</Type/Pages/Count ${pages.length}/Kids[${pages.map(id => `${id} 0 R`).join(' ')}]>>`)
  yield written(Buffer.concat([Buffer.from('%'), comment, Buffer.from('\n')]))
  const table = Array.from({ length: next - 1 }, (_, index) => `${String(offsets[index + 1]).padStart(10, '0')} 00000 n \n`).join('')
  const trailer = `trailer\n<</Size ${next}/Root 1 0 R/Info 3 0 R>>\nstartxref\n${offset}\n%%EOF\n`
  yield Buffer.from(`xref\n0 ${next}\n0000000000 65535 f \n${table}${trailer}`)
}

function* pagesOf(blocks: Iterable<Block>, foot: (page: number) => string): Generator<string> {
  let [page, y, content] = [1, PAGE.margin, '']
  const ended = () => content + shown({ text: foot(page), x: PAGE.margin, y: 0, size: 7 }, PAGE.height - FOOT)
  for (const { height, marks, isRuled } of blocks) {
    if (content !== '' && y + height > PAGE.height - PAGE.margin) {
      yield ended()
      ;[page, y, content] = [page + 1, PAGE.margin, '']
    }
    content += marks.map(mark => shown(mark, y)).join('')
    y += height
    const rule = PAGE.height - y + 3
    if (isRuled) content += `0.4 w 0.7 G ${PAGE.margin} ${rule} m ${PAGE.width - PAGE.margin} ${rule} l S\n`
  }
  yield ended()
}

const names = Object.keys(FONTS)
const shown = ({ text, x, y, size, font = 'plain' }: Mark, top: number): string =>
  `BT /F${names.indexOf(font)} ${size} Tf ${x} ${PAGE.height - top - y - size} Td ${hexText(text)} Tj ET\n`

/** Of Windows-1252, what is not at its place in Unicode. */
const MOVED = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ'

function byteOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if ((code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff)) return code
  if (code < 0x20) return 0x20
  const moved = MOVED.indexOf(character)
  return moved < 0 ? 0x3f : 0x80 + moved
}

const hexText = (text: string): string => `<${Buffer.from([...text.normalize('NFC')].map(byteOf)).toString('hex')}>`

/** Widths of Helvetica in thousandths of its size, from the space on. */
const WIDTHS =
  '278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584'
    .split(' ')
    .map(Number)
const WIDEST = 1_000

/** Width in points; letters with accents are as wide as without. */
export function widthOf(text: string, size: number, font: Font = 'plain'): number {
  if (font === 'mono') return [...text].length * 0.6 * size
  const units = [...text].reduce((sum, character) => sum + (WIDTHS[(character.normalize('NFD').codePointAt(0) ?? 0) - 0x20] ?? WIDEST), 0)
  return (units / 1_000) * size * (font === 'bold' ? 1.1 : 1)
}

/** Lines of a text that is no wider than this; a word that is wider by itself is cut. */
export function wrapped(text: string, width: number, size: number, font: Font = 'plain'): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter(Boolean)) {
    if (line !== '' && widthOf(`${line} ${word}`, size, font) <= width) {
      line += ` ${word}`
      continue
    }
    if (line !== '') lines.push(line)
    line = ''
    for (const character of word) {
      if (widthOf(line + character, size, font) > width) {
        lines.push(line)
        line = ''
      }
      line += character
    }
  }
  return line === '' ? lines : [...lines, line]
}
