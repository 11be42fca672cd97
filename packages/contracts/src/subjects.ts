/** Whom and what something is about, under the names that log lines use. */
export type Subjects = Record<string, string>

const names = ['merchant_id', 'order_id', 'subscription_id', 'payment_id', 'memo'] as const
/** Subjects of lists in paths: `/orders/0197…` is about an order. */
const namedIn: Readonly<Record<string, string>> = {
  orders: 'order_id',
  checkout: 'order_id',
  pay: 'order_id',
  subscriptions: 'subscription_id',
  events: 'event_id',
  deliveries: 'delivery_id',
  'webhook-endpoints': 'endpoint_id',
  refunds: 'refund_id',
  'refund-claims': 'claim_id',
}
/** After `/payer` stands the secret of a link, and no id. */
const NAMED = new RegExp(`(?<!/payer)/(${Object.keys(namedIn).join('|')})/([0-9a-f]{8}-[0-9a-f-]{27})(?=/|$)`, 'i')

const textOf = (value: unknown, name: string): string | undefined => {
  const text = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  return typeof text === 'string' ? text : undefined
}

/** The ids that an event's data, or a caller, names. */
export function subjectsOf(data: object): Subjects {
  const found: Subjects = {}
  const add = (name: string, value: string | undefined) => {
    if (value !== undefined) found[name] = value
  }
  for (const name of names) add(name, textOf(data, name))
  add('merchant_id', textOf(Reflect.get(data, 'terms'), 'merchant_id'))
  add('order_id', textOf(Reflect.get(data, 'order'), 'id'))
  add('subscription_id', textOf(Reflect.get(data, 'order'), 'subscription_id'))
  add('subscription_id', textOf(Reflect.get(data, 'subscription'), 'id'))
  return found
}

/** The id that a path of the API names. */
export function subjectsOfPath(path: string): Subjects {
  const [, list, id] = NAMED.exec(path) ?? []
  const name = namedIn[list?.toLowerCase() ?? '']
  return name && id ? { [name]: id.toLowerCase() } : {}
}

/** A path as logs have it: without its query, and without the secret of a link. */
export const pathInLogs = (path: string): string => path.replace(/\?.*$/s, '').replace(/(\/pay(?:er)?\/[^/]+\/)[^/]+/i, '$1:payer_token')
