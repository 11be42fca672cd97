export { overviewRoute } from './overview-route'
