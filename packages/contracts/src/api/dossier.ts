import { z } from 'zod'
import { address, brlAmount, id, memo, rate, timestamp, txHash, usdcAmount } from '../fields'
import { customer } from './customer'
import { fiscalDocumentKey } from './fiscal-document'

/** More do not go into one dossier. */
export const DOSSIER_ORIGINS_MAX = 1_000
/** Payers' transfers that are listed of one sweep: anyone can send as many to an address as they like. */
export const DOSSIER_PAYMENTS_MAX = 50

const hex = z.string().regex(/^0x([0-9a-f]{2})*$/)
/** 32 bytes of a hash of a block. */
const blockHash = txHash

/** The signature that the key of a payout address gave for it (EIP-191); null of one that was set without. */
export const payoutProof = z.strictObject({ message: z.string(), signature: z.string().regex(/^0x[0-9a-f]+$/), signed_at: timestamp })
export type PayoutProof = z.infer<typeof payoutProof>

/** A receipt under the root in its block's header: `nodes` are those of the trie from the root to the receipt. */
export const receiptProof = z.strictObject({
  /** RLP; its keccak256 is the hash of the block. */
  header: hex,
  receipt_index: z.int().min(0),
  /** As the trie has it: the type before the RLP, where it has one. */
  receipt: hex,
  nodes: z.array(hex),
  /** Number of logs in the receipts before it: a log's index less this is its place in the receipt. */
  first_log_index: z.int().min(0),
})
export type ReceiptProof = z.infer<typeof receiptProof>

export const dossierTransaction = z.strictObject({
  tx_hash: txHash,
  block_number: z.int().min(0),
  block_hash: blockHash,
  block_time: timestamp,
  /** Null on a chain whose headers do not hash to their blocks' hashes as they are read. */
  proof: receiptProof.nullable(),
})
export type DossierTransaction = z.infer<typeof dossierTransaction>

export const dossierOrder = z.strictObject({
  id,
  external_ref: z.string().nullable(),
  description: z.string().nullable(),
  brl_amount: brlAmount,
  usdc_amount: usdcAmount,
  rate,
  created_at: timestamp,
  paid_at: timestamp.nullable(),
  customer: customer.strict().nullable(),
  fiscal_document: fiscalDocumentKey.strict().nullable(),
})
export type DossierOrder = z.infer<typeof dossierOrder>

/** Money on its way in: a log of one of the dossier's transactions. */
export const dossierPayment = z.strictObject({
  tx_hash: txHash,
  log_index: z.int().min(0),
  /** Null where none is named, as of a mint. */
  payer_address: address.nullable(),
  amount: usdcAmount,
})
export type DossierPayment = z.infer<typeof dossierPayment>

/** A movement that reached a payout address: an entry `settled` or `direct` of the ledger. */
export const dossierOrigin = z.strictObject({
  sequence: z.int().min(1),
  /** `router`: the payer paid through the router. `sweep`: from a deposit address. `direct`: a plain transfer to the payout address. */
  kind: z.enum(['router', 'sweep', 'direct']),
  at: timestamp,
  /** Reached the payout address. */
  amount: usdcAmount,
  /** The part of `amount` that counts here: less than all of it for the oldest one of a sum that was asked for. */
  counted: usdcAmount,
  /** Taken by the router on the way. */
  platform_fee: usdcAmount,
  payout_address: address,
  tx_hash: txHash,
  /** Of the router's `PaymentReceived`; of the token's `Transfer` where it is `direct`. */
  log_index: z.int().min(0),
  router_address: address.nullable(),
  memo: memo.nullable(),
  deposit_address: address.nullable(),
  /** Null where it came for no order. */
  order: dossierOrder.nullable(),
  /** The payer's own transfers: to the deposit address for a `sweep`, the largest of them, else the log of the origin itself. Empty where only the sweep is on record. */
  payments: z.array(dossierPayment).max(DOSSIER_PAYMENTS_MAX),
  /** Further transfers that the sweep took, which are smaller than those above. */
  more_payments: z.int().min(0),
})
export type DossierOrigin = z.infer<typeof dossierOrigin>

/** Where the USDC of a withdrawal came from. */
export const dossier = z.strictObject({
  object: z.literal('dossier'),
  version: z.literal(1),
  /** Of the export that made it. */
  id,
  created_at: timestamp,
  installation: z.string(),
  merchant: z.strictObject({ id, name: z.string() }),
  basis: z.strictObject({
    /** Which entries make it up, in words. */
    rule: z.string(),
    amount: usdcAmount.nullable(),
    payout_address: address.nullable(),
    entries: z.array(z.int().min(1)).nullable(),
    /** The last sequence of the ledger that was looked at. */
    through: z.int().min(0),
  }),
  network: z.string(),
  chain_id: z.int(),
  token_address: address,
  /** Addresses that the origins reached, with the time in which each was the merchant's. */
  payout_addresses: z.array(z.strictObject({ address, from: timestamp, to: timestamp.nullable(), proof: payoutProof.nullable() })),
  /** Newest first. */
  origins: z.array(dossierOrigin).min(1).max(DOSSIER_ORIGINS_MAX),
  /** All that the origins name, each once. */
  transactions: z.array(dossierTransaction),
  /** The sum of `counted`. */
  total_usdc: usdcAmount,
})
export type Dossier = z.infer<typeof dossier>

/**
 * The file: `JSON.stringify` of this, without white space and with the keys in the order of these schemas. The signature is over the UTF-8 bytes of
 * `JSON.stringify(dossier)`, the key is named by its thumbprint (RFC 7638).
 */
export const signedDossier = z.strictObject({
  dossier,
  signature: z.strictObject({
    alg: z.literal('Ed25519'),
    kid: z.string().regex(/^[\w-]{43}$/),
    value: z.string().regex(/^[\w-]{86}$/),
  }),
})
export type SignedDossier = z.infer<typeof signedDossier>

export const dossierKeys = z
  .object({
    keys: z.array(
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        x: z.string().meta({ description: 'The public key, base64url', example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }),
        kid: z.string().meta({ description: 'Its thumbprint (RFC 7638)', example: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' }),
        alg: z.literal('EdDSA'),
        use: z.literal('sig'),
      }),
    ),
  })
  .meta({ description: 'A JWK Set' })
export type DossierKeys = z.infer<typeof dossierKeys>
