export { CopyBlock, CopyField } from './copy-field'
export { Aside, Notice, Sign, type Tone } from './notice'
export { PageTools } from './page-tools'
