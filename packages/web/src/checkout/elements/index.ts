export { CopyBlock, CopyField } from './copy-field'
export { Aside, Notice } from './notice'
export { PageTools } from './page-tools'
