export { createProgram, type ProgramContext } from './program'
