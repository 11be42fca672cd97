import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort, requireProgram } from '@ponte/local-servers'
import { migrate, requireMigrated } from '../../src'
import { testDatabase } from '../../src/testing'

describe('behind PgBouncer', () => {
  let home: Awaited<ReturnType<typeof testDatabase>>
  let folder: string
  let migrations: string
  let program: string
  beforeAll(async () => {
    program = await requireProgram('pgbouncer', 'pgbouncer', 'testing the refusal of poolers')
    home = await testDatabase()
    folder = mkdtempSync(join(tmpdir(), 'ponte-pooler-'))
    migrations = mkdtempSync(join(tmpdir(), 'ponte-migrations-'))
    chmodSync(folder, 0o755)
  }, 300_000)
  afterAll(async () => {
    await home.drop()
    rmSync(folder, { recursive: true })
    rmSync(migrations, { recursive: true })
  })

  it.each(['transaction', 'session'])('pooling by %s is refused at start, with what to do; PostgreSQL itself is not', async mode => {
    const real = new URL(home.url)
    const port = await freePort()
    const settings = join(folder, `${mode}.ini`)
    const users = join(folder, 'users.txt')
    writeFileSync(users, `"${real.username}" "${decodeURIComponent(real.password)}"\n`, { mode: 0o644 })
    writeFileSync(
      settings,
      `[databases]
pooled = host=${real.hostname} port=${real.port} dbname=${real.pathname.slice(1)} user=${real.username} password=${decodeURIComponent(real.password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
`,
      { mode: 0o644 },
    )
    // It refuses to run as root.
    const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
    const bouncer = spawn(program, [...asOther, settings], { stdio: ['ignore', 'ignore', 'pipe'] })
    try {
      await new Promise<void>((resolve, reject) => {
        const lines: string[] = []
        createInterface({ input: bouncer.stderr }).on('line', line => {
          lines.push(line)
          if (line.includes('process up')) resolve()
        })
        bouncer.once('exit', () => reject(new Error(`PgBouncer did not start:\n${lines.join('\n')}`)))
      })
      const pooled = `postgresql://${real.username}:${real.password}@127.0.0.1:${port}/pooled`
      const refusal = 'DATABASE_URL leads to a connection pooler. Name PostgreSQL itself'
      await expect(migrate(pooled, migrations)).rejects.toThrow(refusal)
      await expect(requireMigrated(pooled, migrations)).rejects.toThrow(refusal)
      expect(await migrate(home.url, migrations)).toEqual([])
    } finally {
      const ended = once(bouncer, 'exit')
      bouncer.kill('SIGINT')
      await ended
    }
  })
})
