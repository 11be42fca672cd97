import { dirname, resolve } from 'node:path'
import { filesOf } from './tracked-files'

const root = resolve(__dirname, '../..')
const LIMIT = 14

/** Folders that hold more today, and how many. A number may go down only; a folder within the limit leaves the list. */
const exceptions: Record<string, number> = {
  'services/chain-listener/src/scan': 21,
}

const isSource = (path: string) => /\.(ts|tsx|css|mjs|cjs|js|sol)$/.test(path) && !path.includes('/artifacts/')

function filesPerFolder(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const path of filesOf(root).filter(isSource)) {
    const folder = dirname(path)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return counts
}

describe('a folder', () => {
  const counts = filesPerFolder()

  test(`has at most ${LIMIT} files: more are several rooms, each named by its noun`, () => {
    const complaints = [...counts]
      .filter(([folder, count]) => count > (exceptions[folder] ?? LIMIT))
      .map(([folder, count]) => `${folder} has ${count} files, ${exceptions[folder] ?? LIMIT} are allowed`)
    expect(complaints).toEqual([])
  })

  test('leaves the list of exceptions when it is within the limit', () => {
    const complaints = Object.keys(exceptions)
      .filter(folder => (counts.get(folder) ?? 0) <= LIMIT)
      .map(folder => `${folder} has ${counts.get(folder) ?? 0} files; take it off the list in tests/tree/folders.test.ts`)
    expect(complaints).toEqual([])
  })
})
