/** The pure rules of an order, for simulations that play years of them without a database. */
export * from './charge'
export { open } from './new-order'
export { type Change, type Ledger, type Order, release, review, supersede } from './order'
export type { ChainView } from './verdict'
