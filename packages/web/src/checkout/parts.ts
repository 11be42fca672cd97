import './elements/folded.css'

export { ExchangeSteps } from './pay/exchange-steps'
export { NetworkChoice } from './pay/network-choice'
export { QuotedForm } from './states/quoted-form'
export { authorize } from './wallet/authorize'
export { payAtOnce } from './wallet/pay-at-once'
export { sentOutcome } from './wallet/sent-outcome'
