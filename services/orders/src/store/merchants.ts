import { type EventData, formatNullableUsdc, type MerchantTerms, parseNullableUsdc, payoutAddresses } from '@ponte/contracts'
import type { Database, Statement } from '@ponte/service-kit'
import { checksumAddress } from '../chain/checksum-address'
import type { PrismaClient } from '../generated/client'
import { newestTerms } from '../order/charge'
import { type PayoutAddress, type PayoutPlace, type ProvenSpan, payoutPlaces, spansReached } from '../payment/payout-spans'
import type { Unmatched } from './rows'

// Raw SQL because it commits with its event; the newest version stands, and each that changes where they are paid is kept with the time from which it held: a ledger that
// looks an address up must not read every name that its merchant had. One that follows another than our copy is kept in any case, for those between may yet come. A gateway of the release before names no
// limit of refunds, no networks and no addresses of theirs: those that are known stand.
const SAVE: Statement = {
  name: 'merchant-save',
  text: `
  WITH own AS (
    SELECT CASE WHEN $names_addresses::boolean THEN $payout_addresses::jsonb
      ELSE coalesce((SELECT payout_addresses FROM merchants WHERE id = $merchant_id::uuid), '{}') END AS addresses),
  paid_at AS (
    INSERT INTO payout_addresses (merchant_id, merchant_version, payout_address, of_networks, since)
    SELECT $merchant_id::uuid, $version::int, $payout_address::text, lower(addresses::text)::jsonb, $since::timestamptz FROM own
    WHERE NOT EXISTS (SELECT FROM merchants AS copy WHERE copy.id = $merchant_id::uuid AND copy.version = $version::int - 1
      AND copy.payout_address IS NOT DISTINCT FROM $payout_address AND copy.payout_addresses = addresses)
    ON CONFLICT DO NOTHING),
  spanned AS (
    INSERT INTO payout_spans (chain_id, address)
    SELECT chain_id, lower(coalesce(addresses ->> chain_id::text, $payout_address::text)) FROM own, unnest($chain_ids::int[]) AS chain_id
    WHERE coalesce(addresses ->> chain_id::text, $payout_address::text) IS NOT NULL ON CONFLICT (chain_id, address) DO UPDATE SET asked_generation = NULL),
  proven AS (
    INSERT INTO payout_proofs AS known (merchant_id, payout_address, message, signature, signed_at)
    SELECT $merchant_id::uuid, $payout_address::text, $proof_message::text, $proof_signature::text, $proof_signed_at::timestamptz
    WHERE $payout_address::text IS NOT NULL AND $proof_message::text IS NOT NULL
    ON CONFLICT (merchant_id, payout_address) DO UPDATE
    SET message = EXCLUDED.message, signature = EXCLUDED.signature, signed_at = EXCLUDED.signed_at
    WHERE EXCLUDED.signed_at < known.signed_at)
  INSERT INTO merchants AS known (id, version, display_name, payout_address, payment_tolerance_units, refund_approval_above_units, chain_ids, payout_addresses)
  SELECT $merchant_id, $version, $display_name, $payout_address, $payment_tolerance_units::bigint, $refund_approval_above_units::bigint, $chosen_chain_ids::int[], addresses FROM own
  ON CONFLICT (id) DO UPDATE SET version = EXCLUDED.version, display_name = EXCLUDED.display_name, payout_address = EXCLUDED.payout_address,
    payment_tolerance_units = EXCLUDED.payment_tolerance_units,
    refund_approval_above_units = CASE WHEN $names_limit::boolean THEN EXCLUDED.refund_approval_above_units ELSE known.refund_approval_above_units END,
    chain_ids = CASE WHEN $names_networks::boolean THEN EXCLUDED.chain_ids ELSE known.chain_ids END,
    payout_addresses = CASE WHEN $names_addresses::boolean THEN EXCLUDED.payout_addresses ELSE known.payout_addresses END
  WHERE known.version < EXCLUDED.version`,
}

const SINCE = (merchant: string) =>
  `(SELECT min(since) FROM payout_addresses AS named WHERE named.merchant_id = ${merchant}
    AND (lower(named.payout_address) = lower($1) OR named.of_networks @> jsonb_build_object(($4::int)::text, lower($1))))`
// Raw SQL: by the function by which the ledger decides whose money is.
const IS_CLAIMED = `
  SELECT EXISTS (SELECT FROM paid_at($1, $2, $4::int) AS owner (merchant_id) WHERE merchant_id <> $3 AND (${SINCE('owner.merchant_id')} <= ${SINCE('$3')}
    OR EXISTS (SELECT FROM payout_proofs AS proof WHERE proof.merchant_id = owner.merchant_id AND lower(proof.payout_address) = lower($1)))) AS claimed`

// Raw SQL: by the function by which the ledger decides whose money is.
const PAYEES = `
  SELECT money.id AS money, payee.id, payee.version
  FROM unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::int[]) AS money (id, memo, address, paid, chain)
  CROSS JOIN LATERAL (SELECT id, version FROM merchants WHERE id IN (SELECT payees(memo, address, paid, chain)) ORDER BY id LIMIT $1) AS payee`
const SHARING_MAX = 10

/** Found in lower case, and read in EIP-55 form. */
const toAddress = ({ ofNetworks, ...row }: Omit<PayoutAddress, 'ofNetworks'> & { ofNetworks: unknown }): PayoutAddress => ({
  ...row,
  ofNetworks: Object.fromEntries(
    Object.entries(payoutAddresses.parse(ofNetworks)).map(([chain, address]) => [chain, checksumAddress(address)]),
  ),
})

/** Our copy of what merchants set at the gateway; the newest version stands, in any order of arrival. */
export function merchantStore(database: Database, prisma: PrismaClient) {
  type Known = Pick<MerchantTerms, 'merchant_id' | 'payout_address' | 'payout_addresses'>
  /** The caller's word stands while no event about them has come. */
  const addressesOf = async ({ merchant_id, payout_address, payout_addresses = {} }: Known): Promise<PayoutAddress[]> => {
    const rows = await prisma.payoutAddress.findMany({ where: { merchantId: merchant_id } })
    const known = { merchantId: merchant_id, merchantVersion: 0, payoutAddress: payout_address, since: new Date(0) }
    const named = rows.map(toAddress)
    const isKnown = named.some(one => one.payoutAddress !== null || Object.keys(one.ofNetworks).length > 0)
    return isKnown ? named : [{ ...known, ofNetworks: payout_addresses }]
  }
  return {
    /** Their payout address is watched on each of these networks. */
    async save(terms: EventData<'merchant.updated'>, since: Date, chainIds: readonly number[], eventId: string): Promise<void> {
      const { merchant_id, version, display_name, payout_address, payout_proof: proof } = terms
      const payment_tolerance_units = parseNullableUsdc(terms.payment_tolerance)?.toString() ?? null
      const refund_approval_above_units = parseNullableUsdc(terms.refund_approval_above)?.toString() ?? null
      const names_limit = terms.refund_approval_above !== undefined
      const [chosen_chain_ids, names_networks] = [terms.chain_ids ?? null, terms.chain_ids !== undefined]
      const [own, names_addresses] = [JSON.stringify(terms.payout_addresses ?? {}), terms.payout_addresses !== undefined]
      const known = { merchant_id, version, display_name, payout_address, payout_addresses: own }
      const values = {
        ...{ ...known, payment_tolerance_units, refund_approval_above_units, names_limit, since, chain_ids: chainIds },
        ...{ chosen_chain_ids, names_networks, names_addresses },
        proof_message: proof?.message ?? null,
        proof_signature: proof?.signature ?? null,
        proof_signed_at: proof?.signed_at ?? null,
      }
      await database.commit({ inbox: [eventId], write: SAVE, values })
    },

    /** By the id of money without an order the merchants whose it is; the first few of those who share the address. */
    async payeesOf(money: readonly Unmatched[]): Promise<Map<string, { id: string; version: number }[]>> {
      if (money.length === 0) return new Map()
      const columns = (['id', 'memo', 'merchantAddress', 'blockTime', 'chainId'] as const).map(field => money.map(row => row[field]))
      const values = [SHARING_MAX, ...columns]
      const { rows } = await database.query<{ money: string; id: string; version: number }>(
        { name: 'merchants-payees', text: PAYEES },
        values,
      )
      return Map.groupBy(rows, row => row.money)
    },

    /** Whether another merchant was paid at this address at that time who had named it before, or whose word its key has signed. */
    async isClaimedByAnother(merchantId: string, payoutAddress: string, chainId: number, at: string): Promise<boolean> {
      const { rows } = await database.query<{ claimed: boolean }>({ name: 'payout-address-claimed', text: IS_CLAIMED }, [
        ...[payoutAddress, at, merchantId, chainId],
      ])
      return rows[0]?.claimed === true
    },

    /** Null where no event about them has come. */
    nameOf: async (id: string): Promise<string | null> =>
      (await prisma.merchant.findUnique({ select: { displayName: true }, where: { id } }))?.displayName ?? null,

    /** When and where each payout address was this merchant's. */
    payoutPlaces: async (known: Known): Promise<PayoutPlace[]> => payoutPlaces(await addressesOf(known)),

    /** The same of what is reached on one network, each with what its key signed. */
    async provenSpans(known: Known, chainId: number): Promise<ProvenSpan[]> {
      const spans = spansReached(await addressesOf(known), chainId)
      const rows = await prisma.payoutProof.findMany({ where: { merchantId: known.merchant_id } })
      return spans.map(span => {
        const row = rows.find(({ payoutAddress }) => payoutAddress === span.payoutAddress)
        return { ...span, proof: row ? { message: row.message, signature: row.signature, signed_at: row.signedAt.toISOString() } : null }
      })
    },

    /** Above this sum the refunds of an order take two members, by the newer of our copy and what the caller knew; null for never. */
    async refundLimit(known: MerchantTerms): Promise<bigint | null> {
      const row = await prisma.merchant.findUnique({ where: { id: known.merchant_id } })
      const isOurs = row !== null && (known.refund_approval_above === undefined || row.version > known.version)
      return isOurs ? row.refundApprovalAboveUnits : parseNullableUsdc(known.refund_approval_above)
    },

    async newestTerms(known: MerchantTerms): Promise<MerchantTerms> {
      const row = await prisma.merchant.findUnique({ where: { id: known.merchant_id } })
      return newestTerms(
        known,
        row && {
          merchant_id: row.id,
          version: row.version,
          display_name: row.displayName,
          payout_address: row.payoutAddress,
          payment_tolerance: formatNullableUsdc(row.paymentToleranceUnits),
          chain_ids: row.chainIds.length === 0 ? null : row.chainIds,
          payout_addresses: payoutAddresses.parse(row.payoutAddresses),
        },
      )
    },
  }
}
