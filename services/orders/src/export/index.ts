export { exportRoute } from './export-route'
