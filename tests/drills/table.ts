import { writeFileSync } from 'node:fs'

export type Line = Record<string, string | number>

/** Prints the lines as a table of a document, and writes them as JSON where the runner wants them. */
export function print(title: string, lines: readonly Line[], notes: readonly string[] = []): void {
  const columns = Object.keys(lines[0] ?? {})
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  const table = [row(columns), row(columns.map(() => '---')), ...lines.map(line => row(columns.map(column => line[column] ?? '')))]
  console.log(`\n${title}\n\n${table.join('\n')}\n\n${notes.join('\n')}`)
  const file = process.env.PONTE_BENCH_RESULT
  if (file) writeFileSync(file, `${JSON.stringify({ title, node: process.version, lines, notes }, null, 2)}\n`)
}

/** The last line of a drill, and its exit code. */
export function verdict(isPassed: boolean, text: string): void {
  console.log(`\n${isPassed ? 'PASSED' : 'FAILED'}: ${text}`)
  if (!isPassed) process.exitCode = 1
}
