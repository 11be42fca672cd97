import './elements/folded.css'

export { ExchangeSteps } from './pay/exchange-steps'
export { QuotedForm } from './states/quoted-form'
