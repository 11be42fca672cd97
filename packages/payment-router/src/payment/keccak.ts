import { keccak256 } from 'ethers'
import { createKeccak } from 'hash-wasm'

const EMPTY = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

/**
 * Gives every hash of ethers in this process to WebAssembly, which takes a tenth of the time: one hash for each address and payment is the
 * largest part of what catching up costs. Until it is compiled, a few milliseconds after the start, ethers' own JavaScript answers the same.
 */
export const fastKeccak: Promise<void> = createKeccak(256).then(hasher => {
  const hash = (data: Uint8Array): Uint8Array => hasher.init().update(data).digest('binary')
  if (`0x${Buffer.from(hash(new Uint8Array())).toString('hex')}` === EMPTY) keccak256.register(hash)
})
