export { invitationIn, JoinPage } from './join-page'
export { TeamPage } from './team-page'
