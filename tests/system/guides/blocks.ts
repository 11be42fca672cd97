import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Pages that teach: every block of theirs is run. The rest of /docs is reference. */
export const guides = ['quickstart', 'webhooks', 'testing', 'payments', 'exceptions', 'refunds', 'production']

export interface Block {
  page: string
  /** The end of the file's name, or `shell`. */
  kind: string
  /** Null for what is typed. */
  file: string | null
  text: string
}

/** The blocks of a guide as a gateway serves it, in their order; a block of another form is thrown. */
export async function blocksOf(gatewayUrl: string, page: string): Promise<Block[]> {
  const html = await (await fetch(`${gatewayUrl}/docs/${page}`)).text()
  const figures = html.matchAll(
    /<figure class="(\w+)">(?:<figcaption><code>([^<]+)<\/code><\/figcaption>)?<pre tabindex="0">([^<]*)<\/pre><\/figure>/g,
  )
  const blocks = [...figures].map(([, kind = '', file, text = '']) => ({ page, kind, file: file ?? null, text: unescapeHtml(text) }))
  const all = html.match(/<pre/g)?.length ?? 0
  if (all !== blocks.length) throw new Error(`/docs/${page} shows ${all} blocks, of which ${blocks.length} can be run.`)
  return blocks
}

const unescapeHtml = (text: string): string => text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

/** The programs of a guide in a folder, after those of the quickstart that it names. */
export function writePrograms(folder: string, blocks: readonly Block[], page: string): void {
  mkdirSync(folder, { recursive: true })
  const programs = (of: string) => blocks.filter(block => block.page === of && block.file !== null)
  for (const { file, text } of [...programs('quickstart'), ...programs(page)]) writeFileSync(join(folder, file ?? ''), `${text}\n`)
}
