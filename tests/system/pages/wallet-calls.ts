import type { LocalChain } from '@ponte/local-servers'

interface Sent {
  hash: string | null
  /** The status that the wallet reports, whatever became of it. */
  status?: number
}

/** The part of a wallet that takes several calls with one confirmation (EIP-5792). */
export interface WalletCalls {
  /** Its report of the networks that it knows. */
  atomic: 'supported' | 'ready' | 'unsupported'
  /** `atomic` does all of them or none; `sponsored` does so by another's transaction, for an account that delegates; `apart` promises that and sends them one by one; `nothing` takes them and sends none. */
  does: 'atomic' | 'sponsored' | 'apart' | 'nothing'
  /** Refused before anything is sent, with this code. */
  refuses: number | null
  /** The status that it reports of calls that it takes from now on, whatever becomes of them. */
  reports: number | null
  sent: Map<string, Sent>
}

interface Request {
  version: string
  id: string
  chainId: string
  atomicRequired: boolean
  calls: { to: string; data: string }[]
}

export class CallsError extends Error {
  constructor(readonly code: number) {
    super(`EIP-5792: ${code}`)
  }
}

const EXECUTOR = `0x${'57'.repeat(20)}`
// Words of address, length and data, one call after the other, from the account that delegates to it (EIP-7702); all of it fails with one.
const EXECUTOR_CODE = '0x5f5b368110600957005b806020013580826040015f375f5f825f5f86355af16025575f80fd5b01604001600156'

const word = (value: string | number) => BigInt(value).toString(16).padStart(64, '0')
const encoded = ({ to, data }: Request['calls'][number]) => word(to) + word((data.length - 2) / 2) + data.slice(2)

/** Answers a request of EIP-5792 with an account of one of the chains. */
export async function answerCalls(
  wallet: WalletCalls,
  of: { account: number | string; gasLimit: number | null; chains: readonly LocalChain[] },
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  if (method === 'wallet_getCapabilities')
    return Object.fromEntries((params[1] as string[]).map(chain => [chain, { atomic: { status: wallet.atomic } }]))
  if (method === 'wallet_getCallsStatus') return statusOf(wallet, of.chains, String(params[0]))
  const request = params[0] as Request
  if (request.version !== '2.0.0' || !request.atomicRequired || !/^0x[0-9a-f]{128}$/.test(request.id)) throw new CallsError(-32602)
  if (wallet.sent.has(request.id)) throw new CallsError(5720)
  if (wallet.refuses !== null) throw new CallsError(wallet.refuses)
  const chain = of.chains.find(({ chainId }) => chainId === Number(request.chainId))
  if (!chain) throw new CallsError(5710)
  const hash = await execute(wallet, chain, of.account, of.gasLimit ?? 500_000, request.calls)
  wallet.sent.set(request.id, wallet.reports === null ? { hash } : { hash, status: wallet.reports })
  return { id: request.id }
}

const placeExecutor = (chain: LocalChain) => chain.provider.send('anvil_setCode', [EXECUTOR, EXECUTOR_CODE])

/** Lets an account execute what anyone sends to it, and takes its coin away. */
export async function makeSponsored(chain: LocalChain, address: string): Promise<void> {
  await placeExecutor(chain)
  await chain.provider.send('anvil_setCode', [address, `0xef0100${EXECUTOR.slice(2)}`])
  await chain.provider.send('anvil_setBalance', [address, '0x0'])
}

async function execute({ does }: WalletCalls, chain: LocalChain, account: number | string, gasLimit: number, calls: Request['calls']) {
  const signer = chain.wallet(account)
  if (does === 'nothing') return null
  if (does === 'apart') {
    let hash = ''
    // The gas is too little for the payment where it is to fail.
    for (const call of calls) hash = (await signer.sendTransaction({ ...call, gasLimit })).hash
    return hash
  }
  await placeExecutor(chain)
  const data = `0x${calls.map(encoded).join('')}`
  if (does === 'sponsored') return (await chain.wallet(0).sendTransaction({ to: signer.address, data, gasLimit })).hash
  const nonce = await signer.getNonce()
  const authorization = await signer.authorize({ address: EXECUTOR, nonce: nonce + 1, chainId: chain.chainId })
  return (await signer.sendTransaction({ type: 4, to: signer.address, data, gasLimit, nonce, authorizationList: [authorization] })).hash
}

async function statusOf({ sent }: WalletCalls, chains: readonly LocalChain[], id: string) {
  const known = sent.get(id)
  if (!known) throw new CallsError(5730)
  const { hash } = known
  const found = await Promise.all(chains.map(({ provider }) => hash && provider.send('eth_getTransactionReceipt', [hash])))
  const receipt = found.find(Boolean)
  const status = known.status ?? (receipt ? (Number(receipt.status) === 1 ? 200 : 500) : 100)
  return { version: '2.0.0', id, chainId: '0x1', atomic: true, status, receipts: receipt ? [receipt] : [] }
}
