/** Headers from lines such as `X-Key: value`; null when a line is not one. */
export function headersFrom(text: string): Record<string, string> | null {
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const pairs = lines.map(line => /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line))
  const headers: Record<string, string> = {}
  for (const pair of pairs) {
    const [, name, value] = pair ?? []
    if (name === undefined || value === undefined || Object.hasOwn(headers, name)) return null
    headers[name] = value
  }
  return headers
}
