declare module 'virtual:operation-permissions' {
  import type { OperationId, Permission } from '@ponte/contracts'

  /** Permission of each operation, from the table of operations. */
  export const neededFor: Readonly<Record<OperationId, readonly Permission[]>>
}
