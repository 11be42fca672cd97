export { Mark } from './mark'
export { ThemeButton } from './theme-button'
