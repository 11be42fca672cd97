export { checksumAddress } from './checksum-address'
export { depositAddresses } from './deposit-address'
