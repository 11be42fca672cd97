const BROWSERS: readonly (readonly [string, RegExp])[] = [
  // Each names those below it too.
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['Mac', /\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
]

/** A browser and its system by what it calls itself, or the name that any other program gives; null without one. */
export function programOf(userAgent: string | null): string | null {
  if (!userAgent) return null
  const named = (list: typeof BROWSERS) => list.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const found = [named(BROWSERS), named(SYSTEMS)].filter(name => name !== undefined)
  return found.length > 0 ? found.join(', ') : (userAgent.split(/[\s/]/)[0]?.slice(0, 40) ?? null)
}
