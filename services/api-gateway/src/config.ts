import { addressRange, PAYMENT_TOLERANCE_MAX, WAITS } from '@ponte/contracts'
import { commonSettings, integer, list, sealKeys, secret, secrets } from '@ponte/service-kit'
import { z } from 'zod'
import { isLoopback } from './loopback'

const webUrl = z.url().transform(url => url.replace(/\/$/, ''))
const owner = list.pipe(z.array(webUrl).min(1, 'names no URL'))

const cidrs = list.pipe(z.array(addressRange))
const isProtected = ({ protocol, hostname }: URL) => protocol === 'https:' || isLoopback(hostname)

export const apiGatewayConfig = z
  .object({
    ...commonSettings,
    /** Key that webhook secrets are sealed with, the same as the webhook dispatcher's, or several while it is changed. */
    SEAL_KEY: sealKeys,
    /**
     * The owners: a URL whose name has an address for each replica, or the URLs of the replicas, comma-separated. And the secret of our tokens for each; while it is changed several, of
     * which the first signs.
     */
    ORDERS_URL: owner,
    ORDERS_TOKEN_SECRET: secrets,
    SUBSCRIPTIONS_URL: owner,
    SUBSCRIPTIONS_TOKEN_SECRET: secrets,
    WEBHOOKS_URL: owner,
    WEBHOOKS_TOKEN_SECRET: secrets,
    /** The chain listener takes payers' signatures; without it such payments are not offered. */
    CHAIN_LISTENER_URL: owner.optional(),
    CHAIN_LISTENER_TOKEN_SECRET: secrets.optional(),
    /** The listeners of the networks beside the first, a URL for each, by whom transactions there are explained. They have the same secret. */
    OTHER_CHAIN_LISTENER_URLS: list.pipe(z.array(webUrl)).default([]),
    /** The sandbox, which plays payers and networks in tests; a live deployment has none, and none of its paths. */
    SANDBOX_URL: owner.optional(),
    SANDBOX_TOKEN_SECRET: secrets.optional(),
    /** The webhook dispatcher's own settings, so that a merchant is warned of an address that it refuses, and of no other. */
    WEBHOOK_ALLOW_CIDRS: cidrs.default([]),
    WEBHOOK_DENY_CIDRS: cidrs.default([]),
    /** Longest wait for an owner's answer. */
    OWNER_TIMEOUT_MS: integer(100, 60_000).default(15_000),
    /** Oldest age of a connection to an owner: a new replica gets its share of requests within this time. */
    OWNER_CONNECTION_AGE_MS: integer(100, 600_000).default(10_000),
    /** Session tokens: issuer, audience, and either the JWKS URL or the shared secret. */
    JWT_ISSUER: z.string(),
    JWT_AUDIENCE: z.string().default('authenticated'),
    JWKS_URL: z.url().optional(),
    JWT_SECRET: secret.optional(),
    /**
     * How long ago users may have logged in when they change where money goes, or who may change it; 0 takes any session. The identity provider
     * reports the time as `auth_time` or in `amr`.
     */
    FRESH_LOGIN_S: integer(0, 86_400).default(300),
    /** Wait of a change of the payout address, during which it can be cancelled: signed by the new address, and otherwise. 0 and 0 let it wait for nothing. */
    PAYOUT_DELAY_S: integer(0, 30 * 86_400).default(86_400),
    PAYOUT_UNSIGNED_DELAY_S: integer(0, 30 * 86_400).default(WAITS.payout_address.defaultDelayS),
    /** Wait of a change that makes or ends an owner; also the time after it in which no change of the payout address is in force. */
    OWNER_DELAY_S: integer(0, 30 * 86_400).default(WAITS.owners.defaultDelayS),
    PAYOUT_HOLD_S: integer(0, 30 * 86_400).default(259_200),
    /** The most that a merchant may choose as `payment_tolerance`, in units; as at orders, which holds to its own for each order. */
    PAYMENT_TOLERANCE_MAX_UNITS: integer(0).transform(BigInt).default(PAYMENT_TOLERANCE_MAX),
    /** For the dashboard's login: the identity provider's address, and the public key it wants. */
    AUTH_URL: z.url().optional(),
    PUBLIC_CLIENT_KEY: z.string().optional(),
    /** Where merchants and payers reach this gateway; the OpenAPI document names it. Required unless HOST is a loopback address without a proxy in front. */
    PUBLIC_URL: webUrl.optional(),
    /** Mails to members are handed to this server, such as smtps://user:password@mail.example; without it there are none. */
    SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    /** Sender of mails, such as Ponte <no-reply@example.com>. */
    MAIL_FROM: z
      .string()
      .regex(/^[^<>\r\n]*<?[^\s<>@]+@[^\s<>@]+>?$/, 'must be an address')
      .optional(),
    /** Requests a minute per API key or login of a user, over all replicas; and per address, in each replica. */
    RATE_LIMIT_CALLER_PER_MINUTE: integer(1).default(6_000),
    RATE_LIMIT_ADDRESS_PER_MINUTE: integer(1).default(12_000),
    /** Orders that an address opens by one payment link a minute, in each replica: so many wait at a time that a single stranger must not be all of them. */
    RATE_LIMIT_LINK_ORDERS_PER_MINUTE: integer(1).default(10),
    /** Changes of merchants' own accounts a minute per login, over all replicas: each is recorded, published, and may ask the chain. */
    RATE_LIMIT_CHANGES_PER_MINUTE: integer(1).default(60),
    /**
     * Requests a minute of a user, or of a merchant's API keys together, in each replica, that ask for a change in orders, subscriptions, endpoints or deliveries
     * and change nothing, because they are refused or repeated: each leaves rows in the audit log, which stay.
     */
    RATE_LIMIT_UNCHANGED_PER_MINUTE: integer(1).default(600),
    /**
     * Requests of one merchant that a replica serves at once: lists and reads; as many that are files; and writes. Of one who asks for more
     * it serves so few while other merchants or payers ask too (`…_CONTENDED`). More wait, up to MERCHANT_WAITING_MAX of each kind.
     */
    MERCHANT_READS_MAX: integer(1, 1_000).default(8),
    MERCHANT_READS_CONTENDED: integer(1, 1_000).default(1),
    MERCHANT_WRITES_MAX: integer(1, 1_000).default(32),
    MERCHANT_WRITES_CONTENDED: integer(1, 1_000).default(1),
    MERCHANT_WAITING_MAX: integer(0, 10_000).default(512),
    /** Requests that wait for an event (`wait`) at once, in each replica; one merchant has no more of these places than it leaves free. */
    EVENT_WAITS_MAX: integer(1, 10_000).default(256),
    /** Live checkout streams open at once, in all, per address and per merchant, in each replica. */
    STREAMS_MAX: integer(1).default(5_000),
    STREAMS_PER_ADDRESS_MAX: integer(1).default(50),
    STREAMS_PER_MERCHANT_MAX: integer(1).default(2_000),
    /** Proxies in front of us whose X-Forwarded-For may be believed. */
    TRUSTED_PROXIES: integer(0, 10).default(0),
    /** The built pages; by default those of this repository, when built. */
    WEB_FOLDER: z.string().optional(),
  })
  .refine(config => (config.JWKS_URL === undefined) !== (config.JWT_SECRET === undefined), {
    path: ['JWKS_URL'],
    message: 'set either JWKS_URL or JWT_SECRET',
  })
  .refine(config => (config.CHAIN_LISTENER_URL === undefined) === (config.CHAIN_LISTENER_TOKEN_SECRET === undefined), {
    path: ['CHAIN_LISTENER_TOKEN_SECRET'],
    message: 'goes together with CHAIN_LISTENER_URL',
  })
  .refine(config => config.OTHER_CHAIN_LISTENER_URLS.length === 0 || config.CHAIN_LISTENER_URL !== undefined, {
    path: ['OTHER_CHAIN_LISTENER_URLS'],
    message: 'goes together with CHAIN_LISTENER_URL',
  })
  .refine(config => (config.SANDBOX_URL === undefined) === (config.SANDBOX_TOKEN_SECRET === undefined), {
    path: ['SANDBOX_TOKEN_SECRET'],
    message: 'goes together with SANDBOX_URL',
  })
  .refine(config => config.SANDBOX_URL === undefined || config.PONTE_MODE !== 'live', {
    path: ['SANDBOX_URL'],
    message: 'must not be set where PONTE_MODE is live',
  })
  .refine(config => config.PUBLIC_URL !== undefined || (isLoopback(config.HOST) && config.TRUSTED_PROXIES === 0), {
    path: ['PUBLIC_URL'],
    message: 'is required unless HOST is a loopback address without a proxy in front',
  })
  .refine(config => config.SMTP_URL === undefined || (config.MAIL_FROM !== undefined && config.PUBLIC_URL !== undefined), {
    path: ['SMTP_URL'],
    message: 'needs MAIL_FROM and PUBLIC_URL, which links in mails lead to',
  })
  .refine(config => config.PUBLIC_URL === undefined || isProtected(new URL(config.PUBLIC_URL)), {
    path: ['PUBLIC_URL'],
    message: 'must be https:// unless it is a loopback address: the session cookie travels over TLS only',
  })
export type ApiGatewayConfig = z.infer<typeof apiGatewayConfig>
