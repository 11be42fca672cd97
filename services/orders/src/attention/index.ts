export { attentionRoute } from './attention-route'
