import type { ConsumeMessage, GetMessage } from 'amqplib'
import type { Message } from './bus'

/** Header of a message that was handed back: when it was for the first time. */
export const HANDED_BACK_AT = 'x-ponte-handed-back-at'
export const MERCHANT_ID = 'x-ponte-merchant-id'

export function toMessage({ properties, fields, content }: ConsumeMessage | GetMessage): Message {
  const handedBackAt = Number(properties.headers?.[HANDED_BACK_AT])
  const merchantId = properties.headers?.[MERCHANT_ID]
  return {
    id: String(properties.messageId),
    type: String(properties.type ?? fields.routingKey),
    body: content.toString('utf8'),
    ...(handedBackAt > 0 ? { handedBackAt } : {}),
    ...(typeof merchantId === 'string' ? { merchantId } : {}),
  }
}
