import { administer } from '@ponte/service-kit/testing'

export interface Kept {
  putBack(): Promise<void>
  /** It is not needed any more. */
  forget(): Promise<void>
}

/** A database as it was kept, to be put back in place of what has become of it. No service may have a connection to it meanwhile. */
export async function keepDatabase(url: string): Promise<Kept> {
  const name = new URL(url).pathname.slice(1)
  const kept = `${name}_kept`
  await administer(`DROP DATABASE IF EXISTS ${kept}`, `CREATE DATABASE ${kept} OWNER ${name} TEMPLATE ${name}`)
  return {
    putBack: () => administer(`DROP DATABASE ${name}`, `ALTER DATABASE ${kept} RENAME TO ${name}`),
    forget: () => administer(`DROP DATABASE ${kept}`),
  }
}
