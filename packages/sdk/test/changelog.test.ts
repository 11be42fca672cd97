import { readFileSync } from 'node:fs'
import { join } from 'node:path'

test.each(['sdk', 'cli'])('the version of packages/%s has its section in the changelog', name => {
  const read = (file: string) => readFileSync(join(__dirname, '../..', name, file), 'utf8')
  expect(read('CHANGELOG.md').split('\n')).toContain(`## ${JSON.parse(read('package.json')).version}`)
})
