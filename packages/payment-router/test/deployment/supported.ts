import { type LocalChain, startLocalChain } from '@ponte/local-servers'
import { supportedChains } from '../../src'

/** A supported chain as it is before we come: the token at its listed address. */
export async function startSupported(chainId: number): Promise<{ chain: LocalChain; usdcAddress: string }> {
  const chain = await startLocalChain({ chainId })
  const usdcAddress = supportedChains[chainId]?.usdcAddress ?? ''
  await chain.provider.send('anvil_setCode', [usdcAddress, await chain.provider.getCode(chain.usdcAddress)])
  return { chain, usdcAddress }
}
