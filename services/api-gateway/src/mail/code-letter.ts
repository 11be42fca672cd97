import type { RefundClaimCodeIssued } from '@ponte/contracts'
import type { Letter } from './mail'

interface Issued {
  /** Of the event, so that the same event again is the same mail. */
  id: string
  at: Date
  seal(code: string): string
}

export const codeLetter = (data: RefundClaimCodeIssued, { id, at, seal }: Issued): Letter => ({
  ...{ id, merchantId: data.merchant_id, address: data.email, language: data.language === 'en' ? 'en' : 'pt' },
  ...{ topic: 'refund_claim', kind: 'refund_claim.code', createdAt: at },
  facts: {
    ...{ merchant: data.merchant_name, usdc_amount: data.amount, expires_at: data.expires_at },
    sealed_code: seal(data.code),
  },
})
