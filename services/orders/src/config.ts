import { parseRate } from '@ponte/contracts'
import { commonSettings, integer, secret } from '@ponte/service-kit'
import { z } from 'zod'

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x address')

export const ordersConfig = z.object({
  ...commonSettings,
  /** Secret of the gateway's tokens for this service. */
  GATEWAY_TOKEN_SECRET: secret,
  /** Where checkout pages are served; goes into `checkout_url`. */
  PUBLIC_URL: z.url().transform(url => url.replace(/\/$/, '')),
  /** The network's name as merchants and payers read it. */
  NETWORK: z.string(),
  CHAIN_ID: integer(1),
  /** USDC on that network. */
  TOKEN_ADDRESS: address,
  /** The PaymentRouter that new orders are paid through. */
  ROUTER_ADDRESS: address,
  /** The fee that this router takes, in basis points; must equal the contract's. */
  PLATFORM_FEE_BPS: integer(0, 1000).transform(BigInt),
  /** Blocks after which the listener confirms a payment; shown to payers. */
  CONFIRMATIONS: integer(1, 10_000).default(1),
  /** Fixed BRL per USDC, for places without a market source. */
  RATE_STATIC: z
    .string()
    .transform((text, context) => {
      try {
        return parseRate(text)
      } catch {
        context.addIssue('must be a decimal such as 5.42')
        return z.NEVER
      }
    })
    .optional(),
  /** A rate older than this prices nothing. */
  RATE_MAX_AGE_S: integer(1).default(300),
  /** Sources that differ by more than this price nothing. */
  RATE_MAX_SPREAD_BPS: integer(0, 10_000).default(150),
  /** How often the sources are asked. */
  RATE_REFRESH_MS: integer(100).default(15_000),
  /** How often expiry is looked for; the confirmed chain time decides, this only asks. */
  EXPIRY_SWEEP_MS: integer(10).default(1_000),
})
export type OrdersConfig = z.infer<typeof ordersConfig>
