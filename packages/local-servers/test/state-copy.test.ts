import { mkdtemp, readFile, rm, watch, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepCopies } from '../src/anvil/state-copy'

const WHOLE = '{"blocks":[],"historical_states":null}'

describe('keepCopies', () => {
  it('copies a whole state and never a torn one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'state-copy-'))
    const stateFile = join(folder, 'state.json')
    const ended = new AbortController()
    const seen: string[] = []
    await writeFile(stateFile, WHOLE.slice(0, -5))
    const copying = keepCopies(stateFile, ended.signal, 1)
    for await (const { filename } of watch(folder)) {
      seen.push(filename ?? '')
      // The third draft of a torn file has left no copy, so the file is made whole.
      if (seen.filter(name => name === 'state.json.draft').length === 3) await writeFile(stateFile, WHOLE)
      if (filename === 'state.json.copy') break
    }
    ended.abort()
    await copying
    expect(await readFile(`${stateFile}.copy`, 'utf8')).toBe(WHOLE)
    await rm(folder, { recursive: true })
  })
})
