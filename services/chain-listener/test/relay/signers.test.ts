import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mined } from '@ponte/local-servers'
import { Wallet } from 'ethers'
import type { Listening } from '../setup'
import { startKms } from './kms'
import { GASLESS, RELAYER, type RelayWorld, startRelayWorld } from './relayer-setup'
import { AMOUNT, authorize, SHARE, TAKING } from './signatures'

let world: RelayWorld
let kms: Awaited<ReturnType<typeof startKms>>
beforeEach(async () => {
  kms = await startKms()
  process.env.AWS_ACCESS_KEY_ID = 'AKIDEXAMPLE'
  process.env.AWS_SECRET_ACCESS_KEY = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
})
afterEach(async () => {
  await world.stop()
  await kms.stop()
  delete process.env.AWS_ACCESS_KEY_ID
  delete process.env.AWS_SECRET_ACCESS_KEY
})

const inKms = (sweeps: string, signatures: string) => ({
  ...TAKING,
  ...{ RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '', KMS_ENDPOINT: kms.url, KMS_REGION: 'sa-east-1' },
  ...{ RELAYER_KMS_KEY: sweeps, GASLESS_KMS_KEY: signatures },
})
const accounts = async (listening: Listening) =>
  (await (await listening.fetch('/deposits')).json()) as { relayer_address: string; gasless_address: string }
async function payBoth(listening: Listening) {
  const [payer, order, deposit] = [new Wallet(Wallet.createRandom().privateKey), await world.open(listening), await world.open(listening)]
  await mined(world.chain.mintUsdc(payer.address, AMOUNT))
  expect(await authorize(world, listening, order, payer)).toMatchObject({ status: 202 })
  await world.pay(deposit.address, AMOUNT)
  for (const { memo } of [order, deposit]) {
    await listening.until(async () => (await world.received(memo)).length === 1, 'it was not paid')
    expect(await world.received(memo)).toEqual([SHARE])
  }
}

describe('keys in AWS KMS', () => {
  it('sign sweeps and payers’ signatures; the key is never here, and each request is signed with the credentials', async () => {
    world = await startRelayWorld()
    const keys = [kms.createKey(), kms.createKey()] as const
    const listening = await world.start(inKms(...keys))
    const { relayer_address, gasless_address } = await accounts(listening)
    expect(new Set([relayer_address, gasless_address]).size).toBe(2)
    for (const address of [relayer_address, gasless_address])
      await world.chain.provider.send('anvil_setBalance', [address, '0xde0b6b3a7640000'])
    for (let round = 0; round < 3; round++) await payBoth(listening)
    expect(await world.chain.provider.getTransactionCount(gasless_address)).toBe(3)
    const signed = kms.asked.filter(({ operation }) => operation === 'Sign')
    expect(signed.map(({ keyId }) => keyId)).toEqual(expect.arrayContaining([...keys]))
    expect(
      kms.asked.every(({ authorization }) => /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/sa-east-1\/kms\//.test(authorization)),
    ).toBe(true)
  })

  it('that cannot be reached keep nothing from being read, and nothing is lost', async () => {
    world = await startRelayWorld()
    kms.fail({ status: 400, type: 'AccessDeniedException' })
    const listening = await world.start(inKms(kms.createKey(), kms.createKey()))
    const deposit = await world.open(listening)
    await world.pay(deposit.address, AMOUNT)
    await listening.until(() => listening.published.payments().some(({ type }) => type === 'payment.confirmed'), 'the chain is not read')
    expect(await world.received(deposit.memo)).toEqual([])
    kms.fail()
    await listening.until(async () => (await listening.fetch('/deposits')).status === 200, 'the account is not known')
    await world.chain.provider.send('anvil_setBalance', [(await accounts(listening)).relayer_address, '0xde0b6b3a7640000'])
    await listening.until(async () => (await world.received(deposit.memo)).length === 1, 'it was not swept')
  })
})

it('a key is read from a file, such as a mounted secret', async () => {
  world = await startRelayWorld()
  const folder = mkdtempSync(join(tmpdir(), 'ponte-key-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  try {
    const env = { ...TAKING, RELAYER_PRIVATE_KEY: '', GASLESS_PRIVATE_KEY: '' }
    await expect(world.start({ ...env, RELAYER_KEY_FILE: file('wrong', 'not a key') })).rejects.toThrow('holds no private key')
    const files = {
      RELAYER_KEY_FILE: file('sweeps', `${RELAYER.privateKey}\n`),
      GASLESS_KEY_FILE: file('gasless', GASLESS.privateKey.slice(2)),
    }
    const listening = await world.start({ ...env, ...files })
    expect(await accounts(listening)).toMatchObject({ relayer_address: RELAYER.address, gasless_address: GASLESS.address })
    await payBoth(listening)
    await expect(world.start({ ...env, ...files, RELAYER_PRIVATE_KEY: RELAYER.privateKey })).rejects.toThrow('name the account in one way')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
