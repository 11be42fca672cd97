import type { CheckoutBody } from '@ponte/contracts'
import type { Provider } from '../../wallet/provider'
import { asked } from './asked'
import { balanceOf, readWord } from './calls'

type Network = Pick<NonNullable<CheckoutBody['payment']['networks']>[number], 'chain_id' | 'token_address'>
/** Units of USDC, by chain id. */
export type Holdings = ReadonlyMap<number, bigint>

const hex = (chainId: number) => `0x${chainId.toString(16)}`

/** The account that the wallet has shared with this page already; null when it would have to ask its owner. */
export async function sharedAccount(provider: Provider): Promise<string | null> {
  const accounts = await asked(provider, 'eth_accounts')
  const account: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  return typeof account === 'string' ? account : null
}

/** As far as the wallet answers: for the network that it is on, and for others where it lists assets (ERC-7811). No server is given the account. */
export async function holdingsOf(provider: Provider, account: string, networks: readonly Network[]): Promise<Holdings> {
  const [listed, here] = await Promise.all([listedHoldings(provider, account, networks), holdingHere(provider, account, networks)])
  return new Map([...listed, ...here])
}

async function holdingHere(provider: Provider, account: string, networks: readonly Network[]): Promise<[number, bigint][]> {
  const chainOf = async () => Number(await asked(provider, 'eth_chainId'))
  const chainId = await chainOf()
  const network = networks.find(({ chain_id }) => chain_id === chainId)
  if (!network) return []
  const answer = await asked(provider, 'eth_call', [{ to: network.token_address, data: balanceOf(account) }, 'latest'])
  // The wallet may have gone elsewhere between the two, where the token is another contract or none.
  return (await chainOf()) === chainId ? unitsIn(answer, readWord).map(units => [chainId, units]) : []
}

async function listedHoldings(provider: Provider, account: string, networks: readonly Network[]): Promise<[number, bigint][]> {
  const assetFilter = Object.fromEntries(
    networks.map(({ chain_id, token_address }) => [hex(chain_id), [{ address: token_address, type: 'erc20' }]]),
  )
  const answer = await asked(provider, 'wallet_getAssets', [{ account, assetFilter }])
  return networks.flatMap(({ chain_id, token_address }) => {
    const assets: unknown = Reflect.get(Object(answer), hex(chain_id))
    const asset: unknown = Array.isArray(assets) ? assets.find(one => addressOf(one) === token_address.toLowerCase()) : undefined
    return unitsIn(Reflect.get(Object(asset), 'balance'), balance => BigInt(String(balance))).map((units): [number, bigint] => [
      chain_id,
      units,
    ])
  })
}

const addressOf = (asset: unknown) => String(Reflect.get(Object(asset), 'address')).toLowerCase()

function unitsIn(answer: unknown, read: (answer: unknown) => bigint): bigint[] {
  try {
    return [read(answer)].filter(units => units >= 0n)
  } catch {
    return []
  }
}
