export { type AddressPolicy, type AddressRange, addressRange, isAddressAllowed, parseAddress, parseRange } from './address'
export { refuseStaticHeaders } from './static-headers'
export { type Destination, namesInternalHost, vetWebhookUrl } from './webhook-url'
