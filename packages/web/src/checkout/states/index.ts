export { Situation } from './situation'
export { WayBack } from './way-back'
