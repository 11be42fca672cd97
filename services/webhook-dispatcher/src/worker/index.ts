export { reap } from './reaper'
export { createWorker } from './worker'
