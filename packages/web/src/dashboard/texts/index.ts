export type { Texts } from './pt'
export { useWords } from './words'
