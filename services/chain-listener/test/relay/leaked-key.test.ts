import { Wallet } from 'ethers'
import type { Listening } from '../setup'
import { GASLESS, RELAYER, type RelayWorld, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, SHARE, TAKING } from './signatures'

// docs/operating/rotate.md, A leaked key of the relayer: what the runbook states, done.

let world: RelayWorld
afterEach(() => world.stop())

const account = () => new Wallet(Wallet.createRandom().privateKey)
const relays = async ({ sql }: Listening) => (await sql.query('SELECT * FROM relays ORDER BY created_at')).rows

/** Stops a listener that has signed a sweep and a payer's authorisation, neither of them mined. */
async function signBoth() {
  world = await startRelayWorld({ noMining: true })
  const payer = account()
  await world.chain.mintUsdc(payer.address, AMOUNT)
  await world.chain.mine(1)
  const listening = await world.start(TAKING)
  const [order, deposit] = [await world.open(listening), await world.open(listening)]
  await world.pay(deposit.address, AMOUNT)
  await world.chain.mine(1)
  expect(await authorize(world, listening, order, payer)).toMatchObject({ status: 202 })
  await listening.until(async () => (await relays(listening)).length === 2, 'nothing was signed')
  await listening.stop()
  return { order, deposit }
}

it('a leaked key is paused, replaced, and what it had signed is done by the new one, once', async () => {
  const { order, deposit } = await signBoth()
  const { provider } = world.chain

  // The thief uses both accounts' nonces and coin.
  for (const { address, privateKey } of [RELAYER, GASLESS]) {
    await provider.send('anvil_removePoolTransactions', [address])
    const thief = new Wallet(privateKey, provider)
    await thief.sendTransaction({ to: account().address, nonce: 0, value: 10n ** 21n, maxFeePerGas: 10n ** 12n, gasLimit: 21_000 })
  }
  await world.chain.mine(1)

  // 1: paused, nothing new is signed with them.
  let listening = await world.start({ ...TAKING, SWEEPS_PAUSED: 'true', GASLESS_PAUSED: 'true' })
  const before = (await relays(listening)).length
  await listening.until(async () => {
    await world.chain.mine(1)
    return (await relays(listening)).every(({ outcome }) => outcome === 'replaced')
  }, 'the thief was not noticed')
  expect((await relays(listening)).length).toBe(before)
  await listening.stop()

  // 3: new keys, with coin of their own.
  const [sweeps, signatures] = [account(), account()]
  for (const { address } of [sweeps, signatures]) await provider.send('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  listening = await world.start({ ...TAKING, RELAYER_PRIVATE_KEY: sweeps.privateKey, GASLESS_PRIVATE_KEY: signatures.privateKey })
  await listening.sql.query('UPDATE authorizations SET retry_at = NULL')
  await listening.until(async () => {
    await world.chain.mine(1)
    const [one, other] = await Promise.all([world.received(order.memo), world.received(deposit.memo)])
    return one.length === 1 && other.length === 1
  }, 'the new accounts do not go on')
  expect([await provider.getTransactionCount(sweeps.address), await provider.getTransactionCount(signatures.address)]).toEqual([1, 1])
  expect(await world.received(order.memo)).toEqual([SHARE])
  expect(await world.received(deposit.memo)).toEqual([SHARE])
})

it('keys that are replaced while their transactions wait: the new ones go on, and nothing is paid twice', async () => {
  const { order, deposit } = await signBoth()
  const [sweeps, signatures] = [account(), account()]
  for (const { address } of [sweeps, signatures]) await world.chain.provider.send('anvil_setBalance', [address, '0xde0b6b3a7640000'])
  const listening = await world.start({ ...TAKING, RELAYER_PRIVATE_KEY: sweeps.privateKey, GASLESS_PRIVATE_KEY: signatures.privateKey })
  await listening.until(async () => {
    await world.chain.mine(1)
    const { rows } = await listening.sql.query("SELECT 1 FROM authorizations WHERE state = 'paid'")
    return rows.length === 1 && (await world.received(deposit.memo)).length === 1
  }, 'the new accounts do not go on')
  expect(await world.received(order.memo)).toEqual([SHARE])
  expect(await world.received(deposit.memo)).toEqual([SHARE])
})
