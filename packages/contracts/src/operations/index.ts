import { apiKeys, members, merchants, sessions } from './account'
import { answers } from './answers'
import { chain } from './chain'
import { endpoints, events } from './events'
import { links } from './links'
import type { Operation } from './operation'
import { orders } from './orders'
import { payers } from './payers'
import { recoveries } from './recoveries'
import { refunds } from './refunds'
import { subscriptions } from './subscriptions'
import { testing } from './testing'

export {
  aliasPath,
  type BodyOf,
  type Credential,
  INFORMED,
  isFile,
  isKeyed,
  judges,
  type Method,
  namesIn,
  type Operation,
  type OperationOwner,
  type ParamsOf,
  type Place,
  pathWith,
  placesOf,
  type QueryOf,
  WAITS,
} from './operation'
export { answers }

/** The one table of what can be asked of Ponte. */
export const operations = {
  ...payers,
  ...chain,
  ...orders,
  ...links,
  ...refunds,
  ...recoveries,
  ...subscriptions,
  ...events,
  ...merchants,
  ...endpoints,
  ...apiKeys,
  ...members,
  ...sessions,
  ...testing,
}
export type Operations = typeof operations
export type OperationId = keyof Operations

const named: Readonly<Record<string, Operation>> = operations

export const operationList: readonly (readonly [OperationId, Operation])[] = Object.entries(named).map(([id, operation]) => [
  id as OperationId,
  operation,
])
