/** The named headers that are present with one value. */
export function pickHeaders(headers: Record<string, string | string[] | undefined>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap(name => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
