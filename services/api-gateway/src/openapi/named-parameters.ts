import { idempotencyKey, MERCHANT_HEADER } from '@ponte/contracts'
import { toJsonSchema } from './schemas'

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same key and body again within 7 days give the stored answer, with `Idempotency-Replayed: true`, and never a second effect.',
  schema: toJsonSchema(idempotencyKey),
  example: 'order-4711-attempt',
}

const merchantParameter = {
  ...{ name: MERCHANT_HEADER, in: 'header', required: false },
  description: 'Which of your merchants this is about; without it the one that you created or joined first.',
  schema: { type: 'string', format: 'uuid' },
  example: '01981f3c-7b1e-7cc3-9d0e-4f1d2a6b8c90',
}

export const namedParameters = { IdempotencyKey: idempotencyParameter, PonteMerchant: merchantParameter }
