import { integer, secret } from '@ponte/service-kit'
import { z } from 'zod'

/** Settings of the relayer, which sweeps deposit addresses and submits payers' signatures. */
export const relaySettings = {
  /** Secret of the gateway's tokens for this service. Without it no port takes payers' signatures. */
  GATEWAY_TOKEN_SECRET: secret.optional(),
  /** The account that pays for gas; used by this service alone and nowhere else. Without it nothing is swept and no signature is submitted. */
  RELAYER_PRIVATE_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .optional(),
  /** A deposit address whose balance is less, in token units, waits for more. Set it to what a sweep costs (about 100,000 gas), and orders' alike. */
  DEPOSIT_MIN_UNITS: integer(1).default(10_000).transform(BigInt),
  /** Least payment that is submitted at our cost, in token units. The same as orders'. */
  GASLESS_MIN_UNITS: integer(1).default(10_000).transform(BigInt),
  /** Most deposits swept by one transaction. */
  DEPOSIT_BATCH_MAX: integer(1, 150).default(50),
  /** A transaction that is not mined after so long is offered a higher price. */
  RELAYER_STUCK_MS: integer(100).default(45_000),
  /** Most gwei offered for a unit of gas. */
  RELAYER_MAX_FEE_GWEI: integer(1, 100_000).default(500),
}
