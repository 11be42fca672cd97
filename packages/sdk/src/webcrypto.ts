/** The part of WebCrypto that is used. */
export interface WebCrypto {
  randomUUID(): string
  subtle: {
    importKey(format: 'raw', key: Uint8Array, algorithm: object, extractable: boolean, usages: readonly string[]): Promise<unknown>
    sign(algorithm: string, key: unknown, data: Uint8Array): Promise<ArrayBuffer>
  }
}

/** WebCrypto: a global everywhere but in Node 18, where a module has it. */
export async function webCrypto(): Promise<WebCrypto> {
  const { crypto } = globalThis as { crypto?: unknown }
  if (isWebCrypto(crypto)) return crypto
  // Not a literal, so that bundlers for other runtimes do not look for it.
  const module = 'node:crypto'
  const { webcrypto } = (await import(module)) as { webcrypto: WebCrypto }
  return webcrypto
}

const isWebCrypto = (value: unknown): value is WebCrypto => typeof value === 'object' && value !== null && 'subtle' in value
