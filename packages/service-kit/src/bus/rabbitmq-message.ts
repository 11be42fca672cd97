import type { ConsumeMessage, GetMessage } from 'amqplib'
import type { Message } from './bus'

export const toMessage = ({ properties, fields, content }: ConsumeMessage | GetMessage): Message => ({
  id: String(properties.messageId),
  type: String(properties.type ?? fields.routingKey),
  body: content.toString('utf8'),
})
