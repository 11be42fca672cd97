export type Variables = Record<string, string>

/** One container of one of our images, as a rendering gives it. */
export interface Container {
  /** Behind the image's entry point. */
  args: readonly string[]
  environment: Variables
}

/** The file of settings that Compose reads. */
export const variablesOf = (text: string): Variables =>
  Object.fromEntries(
    text
      .split('\n')
      .filter(line => /^[A-Z0-9_]+=/.test(line))
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** An image that stays the same: by its whole version, by its digest, or made on the machine that runs it. */
export const LASTING_IMAGE = /^[\w./-]+(?::(?:local|v?\d+\.\d+(?:\.\d+)?[\w.-]*)(?:@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$/
