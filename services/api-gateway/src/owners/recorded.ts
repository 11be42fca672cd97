const ACTIONS = {
  'post /orders': 'order.create',
  'post /orders/:id/cancel': 'order.cancel',
  'post /attention/:id/handle': 'attention.handle',
  'post /attention/:id/reopen': 'attention.reopen',
  'post /subscriptions': 'subscription.create',
  'patch /subscriptions/:id': 'subscription.update',
  'post /subscriptions/:id/charge': 'subscription.charge',
  'post /subscriptions/:id/cancel': 'subscription.cancel',
  'post /subscriptions/:id/charges/:period_index/accept': 'subscription.accept',
  'post /deliveries/replay': 'deliveries.replay',
  'post /deliveries/:id/replay': 'delivery.replay',
  'post /webhook-endpoints': 'endpoint.create',
  'patch /webhook-endpoints/:id': 'endpoint.update',
  'delete /webhook-endpoints/:id': 'endpoint.delete',
  'post /webhook-endpoints/:id/rotate-secret': 'endpoint_secret.rotate',
  'post /webhook-endpoints/:id/activate-secret': 'endpoint_secret.activate',
  'post /webhook-endpoints/:id/test': 'endpoint.test',
} as const
export type RequestAction = (typeof ACTIONS)[keyof typeof ACTIONS]
const actions: Readonly<Record<string, RequestAction | undefined>> = ACTIONS

/** A change that an owner is asked for, as the audit log has it. */
export interface RequestedChange {
  action: RequestAction
  /** Names of the fields that the request gives. */
  changed: string[]
  /** What it is about; null when it creates something. */
  target: string | null
}

/** How the audit log calls what a route changes at its owner; null where nothing changes. Throws for a route that changes something and has no name. */
export function actionOf({ method, path, credential }: { method: string; path: string; credential: string }): RequestAction | null {
  if (method === 'get') return null
  const action = actions[`${method} ${path.replace(/^\/api\/v1(\/merchants\/me)?/, '')}`]
  if (!action) throw new Error(`${method} ${path} has no name for the audit log.`)
  // An order that a program opens is its own record, and the one request that comes by the thousand.
  return action === 'order.create' && credential === 'api_key' ? null : action
}

/** Names of the fields that a body gives; never a value. What is no name of a field is left out, because anyone can send it. */
export function fieldsOf(body: unknown): string[] {
  if (!Buffer.isBuffer(body) || body.length === 0) return []
  try {
    // As its owner reads it, which takes no byte order mark for a part of the text.
    return Object.keys(Object(JSON.parse(new TextDecoder().decode(body))))
      .filter(name => /^[a-z_]{1,40}$/.test(name))
      .slice(0, FIELDS_MAX)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

const FIELDS_MAX = 30
