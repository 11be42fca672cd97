export { requestHeaders, type Signing, SPECIFIED_HEADERS, shownHeaders } from './request-headers'
export { createResolver } from './resolver'
export { createSender, type Sender } from './sender'
