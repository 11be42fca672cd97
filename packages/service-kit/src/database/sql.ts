import type pg from 'pg'

/** Only what code needs of a connection: a text with numbered parameters. */
export interface Sql {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string | { name: string; text: string },
    values?: readonly unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>
}
