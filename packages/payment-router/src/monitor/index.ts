export { type ContractState, readContractState } from './contract-state'
export { type RouterSurvey, surveyRouter } from './router-survey'
