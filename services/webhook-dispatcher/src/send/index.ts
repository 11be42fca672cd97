export { createResolver } from './resolver'
export { createSender, type Sender } from './sender'
