/** Texts that the browser did not keep, until its page is left. */
const held = new Map<string, string>()

/** Null when nothing was kept under the name. */
export function remembered(key: string): string | null {
  const here = held.get(key)
  if (here !== undefined) return here || null
  try {
    return localStorage.getItem(key)
  } catch {
    // Private windows may refuse.
    return null
  }
}

/** Keeps a text under a name, or forgets it. */
export function remember(key: string, text: string | null): void {
  held.delete(key)
  try {
    if (text === null) localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    held.set(key, text ?? '')
  }
}
