export { invitationIn, JoinPage } from './join-page'
export { TeamPage } from './team-page'
export { useNameOf } from './use-team'
