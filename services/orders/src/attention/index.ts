export { attentionRoutes } from './attention-route'
