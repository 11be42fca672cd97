export { differencesOf } from './compare'
export { reconcileJob } from './job'
