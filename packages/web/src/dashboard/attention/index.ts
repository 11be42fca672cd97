export { AttentionCard } from './attention-card'
export { AttentionPage } from './attention-page'
