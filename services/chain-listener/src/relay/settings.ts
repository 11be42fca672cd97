import { parseUsdc } from '@ponte/contracts'
import { integer, secret } from '@ponte/service-kit'
import { z } from 'zod'

/** Settings of the relayer, which sweeps deposit addresses and submits payers' signatures. */
export const relaySettings = {
  /** Secret of the gateway's tokens for this service. Without it no port takes payers' signatures. */
  GATEWAY_TOKEN_SECRET: secret.optional(),
  /** The account that pays for gas; used by this service alone and nowhere else. Without it deposit addresses are off. */
  RELAYER_PRIVATE_KEY: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hex characters')
    .optional(),
  /** A deposit below this waits for more, unless it completes its order. Set it to what a sweep costs (about 100,000 gas). */
  DEPOSIT_MIN_USDC: z
    .string()
    .default('0.01')
    .transform((text, context) => {
      try {
        return parseUsdc(text)
      } catch {
        context.addIssue('must be a decimal such as 0.05')
        return z.NEVER
      }
    }),
  /** Most deposits swept by one transaction. */
  DEPOSIT_BATCH_MAX: integer(1, 150).default(50),
  /** For how long after its order expired an address is looked at, and how often then. */
  DEPOSIT_OLD_DAYS: integer(0, 3_650).default(90),
  DEPOSIT_OLD_EVERY_S: integer(1).default(3_600),
  /** A transaction that is not mined after so long is offered a higher price. */
  RELAYER_STUCK_MS: integer(100).default(45_000),
  /** Most gwei offered for a unit of gas. */
  RELAYER_MAX_FEE_GWEI: integer(1, 100_000).default(500),
}
