import { type Database, SERVER_HISTORY } from '@ponte/service-kit'

// Raw SQL, because only the server knows it: a database that was loaded from a dump has another number, and a server that went back another timeline. One that
// was put aside, or copied, and comes back was not looked at meanwhile.
const PRESENT = `${SERVER_HISTORY} || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`
const IS_KNOWN = `SELECT 1 FROM history WHERE name = ${PRESENT} AND seen_at > now() - interval '1 day'`
const NOTE = `
  INSERT INTO history (name) SELECT ${PRESENT} ON CONFLICT (one) DO UPDATE SET name = EXCLUDED.name, seen_at = now()
  WHERE history.name <> EXCLUDED.name OR history.seen_at < now() - interval '1 minute'`

/** Notices that the database has lost a part of its own history. */
export function historyStore(database: Database) {
  return {
    /** It is in another history than the one that was noted in it, or none was noted in it, or not for long. */
    isBroken: async (): Promise<boolean> => (await database.query({ name: 'history-known', text: IS_KNOWN }, [])).rowCount === 0,
    async note(): Promise<void> {
      await database.query({ name: 'history-note', text: NOTE }, [])
    },
  }
}
