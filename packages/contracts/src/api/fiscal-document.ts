import { z } from 'zod'
import { timestamp } from '../fields'
import { FISCAL_KINDS, faultOfFiscalKey, normalizeFiscalKey } from '../fiscal-key'

const fiscalKind = z.enum(FISCAL_KINDS).meta({ description: '`nfe`: an NF-e or NFC-e. `nfse`: a national NFS-e' })
const EXAMPLE = '35261112ABC34501DE35550010000000071123456789'

/** The fiscal document of an order as a merchant names it. */
export const fiscalDocumentInput = z
  .strictObject({
    kind: fiscalKind,
    key: z.string().max(100, 'must have at most 100 characters').overwrite(normalizeFiscalKey).meta({
      description: 'Its access key: 44 characters of an NF-e or NFC-e, 50 of a national NFS-e; spaces are left out',
      example: EXAMPLE,
    }),
  })
  .superRefine(({ kind, key }, context) => {
    const message = faultOfFiscalKey(kind, key)
    if (message !== null) context.addIssue({ code: 'custom', path: ['key'], message })
  })
  .meta({ description: 'The document that was issued for the order' })
export type FiscalDocumentInput = z.infer<typeof fiscalDocumentInput>

/** As an entry of the ledger shows it. */
export const fiscalDocumentKey = z.object({ kind: fiscalKind, key: z.string().meta({ example: EXAMPLE }) })
export type FiscalDocumentKey = z.infer<typeof fiscalDocumentKey>

export const fiscalDocument = fiscalDocumentKey.extend({
  set_at: timestamp,
  set_by: z.string().nullable().meta({ description: '`sub` of the user who named it; null for a key' }),
})
export type FiscalDocumentBody = z.infer<typeof fiscalDocument>
