import { networks } from '../networks'
import type { Provider } from './provider'
import { Refusal, refusalOf } from './refusal'

/** The account that the wallet offers, on the right network. Throws Refusal, or what the wallet throws. */
export async function connected(provider: Provider, chainId: number, onStep: (step: 'connect' | 'network') => void): Promise<string> {
  onStep('connect')
  const payer = await accountOf(provider)
  if (await isOn(provider, chainId)) return payer
  onStep('network')
  await switchedTo(provider, chainId)
  if (!(await isOn(provider, chainId))) throw new Refusal('wrong_network')
  return payer
}

export const isOn = async (provider: Provider, chainId: number): Promise<boolean> =>
  Number(await provider.request({ method: 'eth_chainId' })) === chainId

/** The account that the wallet offers. Throws Refusal, or what the wallet throws. */
export async function accountOf(provider: Provider): Promise<string> {
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const account: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof account !== 'string') throw new Refusal('no_account')
  return account
}

/** Asks for the network, and offers it to a wallet that does not know it. */
async function switchedTo(provider: Provider, chainId: number): Promise<void> {
  const name = { chainId: `0x${chainId.toString(16)}` }
  const change = () => provider.request({ method: 'wallet_switchEthereumChain', params: [name] })
  try {
    await change()
  } catch (error) {
    const known = networks[chainId]
    if (refusalOf(error).kind !== 'unknown_network' || !known) throw error
    await provider.request({ method: 'wallet_addEthereumChain', params: [{ ...name, ...known }] })
    // A wallet may add a network without going there.
    await change()
  }
}
