/** The pure rules of who owns a merchant and where it is paid, for walks through every sequence of a thief's and the owners' steps. */
export { type Member, permissionsOf } from './member'
export * from './owner-change'
export * from './payout-change'
