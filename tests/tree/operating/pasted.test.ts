import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesOf } from '../tracked-files'

// An operator's pasted line at night destroys nothing: everything that can destroy stands in a script that checks first (infra/compose/restore.sh).

const root = resolve(__dirname, '../../..')
const DESTRUCTIVE: readonly RegExp[] = [
  /\bdropdb\b/i,
  /\bDROP\s+(DATABASE|TABLE|SCHEMA)\b/i,
  /\bTRUNCATE\b/i,
  /\bDELETE\s+FROM\b/i,
  /\bpg_restore\b/,
  /\bpgbackrest\b(?=.*\brestore\b)/,
  /\bpgbackrest\b(?=.*\b(expire|stanza-delete)\b)/,
  /\brm\s+(-\w*[rRf]|--(recursive|force))/,
  /\bvolume\s+(rm|prune)\b/,
  /\bsystem\s+prune\b/,
  /\bdown\b.*(\s-v\b|--volumes\b)/,
  /\bkubectl\b.*\bdelete\b/,
  /\brabbitmqctl\b.*\b(reset|delete_queue|purge_queue|delete_vhost)\b/,
  /\bmkfs\b|\bdd\s+.*\bof=/,
]

const documents = filesOf(root).filter(path => path.endsWith('.md') && /^(docs\/operating|infra)\//.test(path))
const destructiveIn = (text: string) =>
  [...text.matchAll(/^ *(```|~~~)[^\n]*\n([\s\S]*?)^ *\1/gm), ...text.matchAll(/(`)([^`\n]+)`/g)]
    .flatMap(([, , code = '']) => code.replace(/\\\n\s*/g, ' ').split('\n'))
    .filter(line => DESTRUCTIVE.some(pattern => pattern.test(line)))

test.each(documents)('%s has no line to paste that destroys', document => {
  expect(destructiveIn(readFileSync(join(root, document), 'utf8'))).toEqual([])
})

test('the lines that once wiped the live database are found', () => {
  const lines = [
    "ponte exec -T postgres sh -c 'dropdb --username postgres --force orders && createdb orders && pg_restore --dbname orders' < orders.dump",
    'docker rm --force restored && docker volume rm ponte-restored',
    'pgbackrest backup --stanza=ponte --delta --type=time restore',
  ]
  expect(destructiveIn(`\`\`\`\n${lines.join('\n')}\n\`\`\`\n`)).toEqual(lines)
  expect(destructiveIn('Then `kubectl -n ponte delete cluster postgres`.')).toEqual(['kubectl -n ponte delete cluster postgres'])
})
