export { Situation } from './situation'
