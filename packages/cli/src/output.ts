export interface Output {
  /** Prints JSON when it was asked for, else the text. */
  show(value: unknown, text: string): void
  /** Progress, for people: on the error stream, so that output stays output. */
  note(text: string): void
  /** Colour when a person looks at it. */
  paint(colour: Colour, text: string): string
}

export type Colour = 'green' | 'red' | 'dim'

const CODES: Record<Colour, number> = { green: 32, red: 31, dim: 2 }

export interface OutputOptions {
  json: boolean
  colour: boolean
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

export function createOutput({ json, colour, stdout, stderr }: OutputOptions): Output {
  return {
    show: (value, text) => void stdout.write(json ? `${JSON.stringify(value)}\n` : `${text}\n`),
    note: text => void stderr.write(`${text}\n`),
    paint: (name, text) => (colour ? `\u001b[${CODES[name]}m${text}\u001b[0m` : text),
  }
}

/** A terminal would obey or reorder these in texts that payers and other programs wrote. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

export function table(given: readonly (readonly string[])[]): string {
  const rows = given.map(row => row.map(cell => cell.replace(UNSAFE, '\ufffd')))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A resource, a field a line. */
export const fields = (value: object): string =>
  table(Object.entries(value).map(([name, each]) => [name, typeof each === 'string' ? each : JSON.stringify(each)]))
