export type { StateName } from './states-pt'
export { useWords } from './words'
