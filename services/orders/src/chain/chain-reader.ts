import { Contract, FetchRequest, isError, JsonRpcProvider, Network } from 'ethers'

/** Payments come from chain-listener; only this is asked of the chain itself. */
export interface ChainReader {
  /** Asks the nodes in turn until one answers. A refusal by the chain itself is an answer. Rejects when none can be asked. */
  ask<T>(question: (provider: JsonRpcProvider) => Promise<T>): Promise<T>
}

const TOKEN = ['function isBlacklisted(address account) view returns (bool)']
const REFUSALS = ['CALL_EXCEPTION', 'BAD_DATA'] as const

export function openChainReader(urls: readonly string[], chainId: number, timeoutMs: number): ChainReader {
  const providers = urls.map(url => {
    const request = new FetchRequest(url)
    request.timeout = timeoutMs
    request.setThrottleParams({ maxAttempts: 1 })
    // A network without a name that ethers knows: it asks a gas station for prices on some known ones.
    return new JsonRpcProvider(request, new Network('chain', chainId), { staticNetwork: true, batchMaxCount: 1 })
  })
  return {
    async ask(question) {
      let failure: unknown = new Error('No node of the chain is configured.')
      for (const provider of providers) {
        try {
          return await question(provider)
        } catch (error) {
          if (!isUnreachable(error)) throw error
          failure = error
        }
      }
      throw failure
    },
  }
}

/** Whether the token's issuer has blocked this account; false for a token without a block list. */
export async function isBlockedByToken(reader: ChainReader, token: string, account: string): Promise<boolean> {
  try {
    const blocked = await reader.ask(provider => new Contract(token, TOKEN, provider).getFunction('isBlacklisted').staticCall(account))
    return blocked === true
  } catch (error) {
    if (REFUSALS.some(code => isError(error, code))) return false
    throw error
  }
}

// EIP-7702. Such an account is its key's on every chain.
const DELEGATED = '0xef0100'

/** Whether a contract stands at this address. */
export async function isContract(reader: ChainReader, account: string): Promise<boolean> {
  const code = await reader.ask(provider => provider.getCode(account))
  return code !== '0x' && !code.startsWith(DELEGATED)
}

/** The node could not be asked; what it refused or found is an answer. */
const isUnreachable = (error: unknown) =>
  !REFUSALS.some(code => isError(error, code)) && !(error instanceof Error && error.name === 'DeploymentMismatchError')
