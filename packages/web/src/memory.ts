/** Null when nothing was kept under the name, or when the browser keeps nothing. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Keeps a text under a name, or forgets it. A browser that keeps nothing loses comfort only. */
export function remember(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // Private windows may refuse; nothing depends on it.
  }
}
