export type { StateName } from './states-pt'
export { loadTexts, useWords } from './words'
