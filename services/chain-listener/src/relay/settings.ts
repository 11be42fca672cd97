import { integer, secrets } from '@ponte/service-kit'
import { z } from 'zod'
import { PRIVATE_KEY } from './signer/open-signer'

const privateKey = z.string().regex(PRIVATE_KEY, 'must be 0x and 64 hex characters').optional()
const path = z.string().optional()
const flag = (byDefault: 'true' | 'false') =>
  z
    .enum(['true', 'false'])
    .default(byDefault)
    .transform(text => text === 'true')
/** Token units from a decimal. */
const usdc = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be USDC with at most six decimals, for example 2.50')
  .transform(text => {
    const [whole = '0', part = ''] = text.split('.')
    return BigInt(whole + part.padEnd(6, '0'))
  })
const gas = (byDefault: number) => integer(21_000, 16_000_000).default(byDefault).transform(BigInt)

/** Settings of the relayer, which sweeps deposit addresses and submits payers' signatures. */
export const relaySettings = {
  /** Where the relayer runs: as a part of this process, or as one of its own (`node dist/relayer.js`); then this one must not be given its keys. */
  RELAYER_PROCESS: z.enum(['listener', 'own']).default('listener'),
  /** Secret of the gateway's tokens for this service, or several while it is changed. Without it no port takes payers' signatures. */
  GATEWAY_TOKEN_SECRET: secrets.optional(),

  /** The account that pays for the gas of sweeps; used here alone. It is named by one of these three. Without it nothing is swept. */
  RELAYER_PRIVATE_KEY: privateKey,
  /** A file that holds its private key in hex, such as a mounted secret. */
  RELAYER_KEY_FILE: path,
  /** Its key in AWS KMS (id, ARN or alias of an ECC_SECG_P256K1 key). The AWS SDK finds region and credentials where it always does. */
  RELAYER_KMS_KEY: path,
  /** The account that pays for the gas of payers' signatures, another one than for sweeps. Without it none is taken. */
  GASLESS_PRIVATE_KEY: privateKey,
  GASLESS_KEY_FILE: path,
  GASLESS_KMS_KEY: path,
  /** Region of the KMS keys, and another address of the API. */
  KMS_REGION: z.string().optional(),
  KMS_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** Follows what was sent, and sends nothing new. */
  SWEEPS_PAUSED: flag('false'),
  GASLESS_PAUSED: flag('false'),
  /** Refunds that a merchant's wallet signed are submitted by the account of payers' signatures; while paused, the merchant or anyone else may submit them. */
  REFUNDS_PAUSED: flag('false'),
  /** Foreign tokens that a merchant recovers are sent on by the account of sweeps; while paused, anyone else may do it. */
  RECOVERIES_PAUSED: flag('false'),

  /** A deposit address whose balance is less, in token units, waits for more, whatever gas costs. */
  DEPOSIT_MIN_UNITS: integer(1).default(10_000).transform(BigInt),
  /** Least payment that is submitted at our cost, in token units. The same as orders'. */
  GASLESS_MIN_UNITS: integer(1).default(10_000).transform(BigInt),
  /** Whether payers' wallets that are contracts may sign (ERC-1271): their code runs at our cost. */
  CONTRACT_WALLETS: flag('true'),
  /** Most deposits swept by one transaction. */
  DEPOSIT_BATCH_MAX: integer(1, 150).default(50),

  /** Most gas of a signature that a key made: measured 121,932 with Circle's contract. */
  GAS_MAX_SIGNATURE: gas(200_000),
  /** Most gas of a signature that a contract wallet judges: the same, and what its code takes (a Safe of a few owners: some 50,000). */
  GAS_MAX_WALLET: gas(300_000),
  /** Most gas of one sweep: measured 128,819. In a batch, of each. */
  GAS_MAX_SWEEP: gas(200_000),
  /** Most gas of a recovery, in which the code of any token runs: measured 118,000 with a plain one. */
  GAS_MAX_RECOVERY: gas(300_000),
  /** Most gas of a batch. Above 16,777,216 no transaction is taken by chains that follow EIP-7825. */
  GAS_MAX_BATCH: gas(10_000_000),

  /** Worth of a whole native coin in USDC, rather too high: gas is reckoned with it. Must be set unless DEVELOPMENT_CHAIN is. */
  COIN_USDC: usdc.refine(units => units > 0n, 'must be above zero').optional(),
  /** The part of an amount that its transaction may cost, in basis points; what would cost more waits. */
  GAS_SHARE_MAX_BPS: integer(1, 10_000).default(2_000),
  /** Most that gas may cost for one order; for one merchant and for all in 24 hours. Sweeps, payers' signatures and refunds have the same budgets, each their own; recoveries a quarter of a day's. */
  GAS_BUDGET_ORDER_USDC: usdc.default(2_000_000n),
  GAS_BUDGET_MERCHANT_DAY_USDC: usdc.default(20_000_000n),
  GAS_BUDGET_DAY_USDC: usdc.default(200_000_000n),
  /** The part of a day's budget that all new merchants have together, in basis points. */
  GAS_NEW_MERCHANTS_BPS: integer(0, 10_000).default(2_500),
  /** A merchant is new until so many days after the first transaction that was relayed for it and done. */
  GAS_NEW_MERCHANT_DAYS: integer(0, 365).default(7),

  /** A transaction that is not mined after so long is offered a higher price. */
  RELAYER_STUCK_MS: integer(100).default(45_000),
  /** One that is not mined after so long is replaced by one that does nothing, so that none behind it waits. */
  RELAYER_GIVE_UP_MS: integer(100).default(300_000),
  /** Most gwei offered for a unit of gas. */
  RELAYER_MAX_FEE_GWEI: integer(1, 100_000).default(500),
}
