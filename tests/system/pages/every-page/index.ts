import { merchantPages } from './merchant'
import { payerPages, troubledPages } from './payer'
import type { Shown, Stop } from './stop'

export { furtherPages } from './further'
export { gatewayPages } from './gateway'
export { logIn, newcomer, PASSWORD } from './newcomer'
export { heading, type Shown, type Stop, visit } from './stop'

const MISSING = '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90'

/** Every page, with what is needed to see it. */
export const everyPage = (of: Shown): { checkout: Stop[]; troubled: Stop[]; dashboard: Stop[] } => ({
  checkout: payerPages(of, MISSING),
  troubled: troubledPages(of),
  dashboard: merchantPages(of, MISSING),
})
