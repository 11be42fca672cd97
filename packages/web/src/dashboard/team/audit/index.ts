export { ChangesCard } from './changes-card'
