export { openSigner, PRIVATE_KEY } from './open-signer'
export type { Signer } from './signer'
