export { useWords } from './words'
