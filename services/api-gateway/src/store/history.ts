import { type Database, SERVER_HISTORY } from '@ponte/service-kit'

// Raw SQL, because only the server knows it: a database that was loaded from a dump has another number, and a server that went back another timeline.
const LOOK = `
  SELECT ${SERVER_HISTORY} || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()) AS present,
    (SELECT name FROM history) AS known`
const NOTE = 'INSERT INTO history (name) VALUES ($1) ON CONFLICT (one) DO UPDATE SET name = EXCLUDED.name'

/** Notices that the database has lost a part of its own history. */
export function historyStore(database: Database) {
  return {
    /** The history that it is in, and the one that was noted in it; null before the first. */
    async look(): Promise<{ present: string; known: string | null }> {
      const { rows } = await database.query<{ present: string; known: string | null }>({ name: 'history-look', text: LOOK }, [])
      return { present: rows[0]?.present ?? '', known: rows[0]?.known ?? null }
    },
    async note(name: string): Promise<void> {
      await database.query(NOTE, [name])
    },
  }
}
