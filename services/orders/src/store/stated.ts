/** True when one row was stated before another, by generations of the listener's history. */
export const isOlder = (a: string, b: string): string =>
  `(coalesce(${a}.generation::text, ''), ${a}.version) < (coalesce(${b}.generation::text, ''), ${b}.version)`

/** Takes what is written over what is there, where the statement that brings it is newer, or what else is named. */
export const takeNewer = ({ name, columns }: { name: string; columns: readonly string[] }, or = 'false'): string => `
  ON CONFLICT (id) DO UPDATE SET ${columns
    .filter(column => column !== 'id')
    .map(column => `${column} = EXCLUDED.${column}`)
    .join(', ')}
  WHERE ${isOlder(name, 'EXCLUDED')} OR ${or}`
