import type { LocalChain } from '@ponte/local-servers'
import { paymentRouterAbi, transferWithAuthorizationTypedData } from '@ponte/payment-router'
import { Interface, Wallet } from 'ethers'
import { BUNDLE_CODE, bundle } from './bundle'
import type { ChainClock } from './chain-clock'
import { hex, type Rpc } from './rpc'

const usdc = new Interface([
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function transfer(address to, uint256 value)',
  'function setBlacklisted(address account, bool blacklisted)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
])
const router = new Interface(paymentRouterAbi)
const GAS = hex(700_000)
const PLENTY = 10n ** 15n
const ALWAYS = 2n ** 256n - 1n
/** Accounts of the local chain that no other part uses: payers, and last the stranger. */
const ACCOUNTS = [5, 6, 7, 8, 9]
const STRANGER = 4
/** Where merchants spend what they have. */
export const OWN_ACCOUNT = `0x${'0e'.repeat(20)}`
const CANCELLATION = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
}

/** Signed by a wallet so that money of its own moves, or never does by this nonce. */
export interface Return {
  payee: string
  units: bigint
  nonce: string
}

/** All accounts that send transactions on a chain of a simulation. What is sent waits until the simulation mines it. */
export async function createActors(chain: LocalChain, rpc: Rpc, clock: ChainClock) {
  const { send } = clock
  const mine = () => clock.mineAt(clock.now() + 1)
  const { usdcAddress, routerAddress } = chain
  const accounts = ACCOUNTS.map(index => chain.wallet(index).address)
  const account = (index: number) => accounts[index] ?? ''
  const call = (from: string, to: string, data: string) => send({ from, to, data, gas: GAS })
  const token = (from: string, method: string, ...values: unknown[]) => call(from, usdcAddress, usdc.encodeFunctionData(method, values))

  const created = await send({ from: account(0), data: BUNDLE_CODE, gas: GAS })
  for (const holder of accounts) {
    await token(holder, 'mint', holder, PLENTY)
    await token(holder, 'approve', routerAddress, ALWAYS)
  }
  await mine()
  const { contractAddress } = await rpc<{ contractAddress: string }>('eth_getTransactionReceipt', created)
  await token(account(0), 'mint', contractAddress, PLENTY)
  await mine()

  const sign = async (wallet: Wallet, { payee, units, nonce }: Return, validBefore: number): Promise<string> => {
    const terms = { ...{ from: wallet.address, to: payee, value: units, nonce }, validBefore: BigInt(validBefore) }
    const { domain, types, message } = transferWithAuthorizationTypedData({ ...terms, chainId: chain.chainId, usdcAddress })
    return wallet.signTypedData(domain, types, message)
  }
  const depositAddress = async (memo: string, merchant: string): Promise<string> => {
    const asked = { to: routerAddress, data: router.encodeFunctionData('depositAddress', [`0x${memo}`, merchant]) }
    const [deposit] = router.decodeFunctionResult('depositAddress', await rpc<string>('eth_call', asked, 'latest'))
    return String(deposit).toLowerCase()
  }
  const submit = ({ address }: Wallet, { payee, units, nonce }: Return, validBefore: number, signature: string) =>
    token(account(STRANGER), 'transferWithAuthorization', address, payee, units, 0, validBefore, nonce, signature)

  return {
    /** A wallet’s signature of a return, and its submission by a stranger. */
    sign,
    submit,
    /** The wallet takes back what it may have signed. */
    async cancelAuthorization(wallet: Wallet, nonce: string): Promise<void> {
      const domain = { name: 'USD Coin', version: '2', chainId: chain.chainId, verifyingContract: usdcAddress }
      const signature = await wallet.signTypedData(domain, CANCELLATION, { authorizer: wallet.address, nonce })
      await token(account(STRANGER), 'cancelAuthorization', wallet.address, nonce, signature)
    },
    /** Money of a wallet goes to its owner’s own account. */
    async spend(wallet: Wallet, units: bigint, nonce: string, validBefore: number): Promise<void> {
      const spent = { payee: OWN_ACCOUNT, units, nonce }
      await submit(wallet, spent, validBefore, await sign(wallet, spent, validBefore))
    },
    transfer: (payer: number, to: string, units: bigint) => token(account(payer), 'transfer', to, units),
    mint: (to: string, units: bigint) => token(account(0), 'mint', to, units),
    pay: (payer: number, memo: string, merchant: string, units: bigint) =>
      call(account(payer), routerAddress, router.encodeFunctionData('pay', [`0x${memo}`, merchant, units])),
    sweep: (payer: number, memo: string, merchant: string) =>
      call(account(payer), routerAddress, router.encodeFunctionData('sweep', [`0x${memo}`, merchant])),
    /** Money to the address of a memo that no order has, and its sweep. */
    async sweepOfNone(payer: number, { memo, merchant }: { memo: string; merchant: string }, units: bigint): Promise<void> {
      await token(account(payer), 'transfer', await depositAddress(memo, merchant), units)
      await call(account(payer), routerAddress, router.encodeFunctionData('sweep', [`0x${memo}`, merchant]))
    },
    /** Transfers to several addresses in one transaction. */
    bundled: (transfers: readonly { to: string; units: bigint }[]) =>
      send({
        from: account(1),
        to: contractAddress,
        data: bundle(transfers.map(({ to, units }) => ({ to: usdcAddress, data: usdc.encodeFunctionData('transfer', [to, units]) }))),
        gas: hex(4_000_000),
      }),
    /** Plain transfers before, between and behind a router's own, all to the same address and of the same amount where it can be, in one transaction. */
    mixed(memo: string, merchant: string, units: bigint): Promise<string> {
      const plain = { to: usdcAddress, data: usdc.encodeFunctionData('transfer', [merchant, units - units / 100n]) }
      const paid = { to: routerAddress, data: router.encodeFunctionData('pay', [`0x${memo}`, merchant, units]) }
      const approved = { to: usdcAddress, data: usdc.encodeFunctionData('approve', [routerAddress, ALWAYS]) }
      return send({ from: account(1), to: contractAddress, data: bundle([approved, plain, paid, plain, paid, plain]), gas: hex(4_000_000) })
    },
    depositAddress,
    block: (who: string, blocked: boolean) => token(account(0), 'setBlacklisted', who, blocked),
    /** A fresh account that owns the token and no native coin. */
    async signer(units: bigint) {
      const wallet = Wallet.createRandom()
      await token(account(0), 'mint', wallet.address, units)
      return wallet
    },
  }
}
