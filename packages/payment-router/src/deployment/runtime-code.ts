import { zeroPadValue } from 'ethers'
import { depositAddressRuntime } from '../artifacts/deposit-address'
import { paymentRouterRuntime } from '../artifacts/payment-router'
import { routerFactoryRuntime } from '../artifacts/router-factory'
import { depositCodeHash, depositImplementation } from '../deposit-address'

interface Runtime {
  code: string
  /** Positions in the code, in bytes, by the name of the immutable. */
  immutables: Record<string, readonly number[]>
}

/** The code as it stands on a chain. Throws when a value is missing, or no immutable has that name. */
function filled(runtime: Runtime, values: Record<string, string>): string {
  const code = Buffer.from(runtime.code.slice(2), 'hex')
  const missing = Object.keys(runtime.immutables).filter(name => values[name] === undefined)
  if (missing.length > 0) throw new Error(`the code has immutables without a value: ${missing.join(', ')}`)
  for (const [name, value] of Object.entries(values)) {
    const places = runtime.immutables[name]
    if (places === undefined) throw new Error(`the code has no immutable ${name}`)
    const word = Buffer.from(zeroPadValue(value, 32).slice(2), 'hex')
    for (const place of places) word.copy(code, place)
  }
  return `0x${code.toString('hex')}`
}

export const factoryCode = (deployer: string): string => filled(routerFactoryRuntime, { deployer })

/** The code of the router at `router` for these terms. */
export function routerCode(router: string, terms: { usdcAddress: string; feeBps: number | bigint; feeReceiver: string }): string {
  const { usdcAddress, feeBps, feeReceiver } = terms
  return filled(paymentRouterRuntime, {
    token: usdcAddress,
    feeBps: `0x${feeBps.toString(16).padStart(64, '0')}`,
    feeReceiver,
    depositImplementation: depositImplementation(router),
    depositCodeHash: depositCodeHash(router),
  })
}

/** The code of the contract that the deposit addresses of `router` are clones of. */
export const implementationCode = (router: string): string => filled(depositAddressRuntime, { router })
