/** The pure rules of who owns a merchant and where it is paid, for walks through every sequence of a thief's and the owners' steps. */
export { type Member, permissionsOf } from './member'
export {
  activateOwnerChange,
  confirmOwnerChange,
  decideMember,
  joinTeam,
  type MemberDecision,
  type Ownership,
  ownersAmong,
  undoOwnerChange,
} from './owner-change'
export {
  activatePayout,
  approvePayout,
  cancelPayout,
  type Payout,
  type PayoutGuard,
  payoutWithoutUser,
  requestPayout,
  retimed,
  signPayout,
} from './payout-change'
