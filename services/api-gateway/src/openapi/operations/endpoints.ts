import { api, me, type Operation, owned } from './operation'

const PATH = '/webhook-endpoints'
const one = { tag: 'Endpoints', answers: { 200: 'WebhookEndpoint' } } as const

/** Where else than at the `webhook_url` a merchant is notified. */
export const endpoints: Operation[] = [
  me('get', PATH, {
    ...{ id: 'listWebhookEndpoints', tag: 'Endpoints', summary: 'List your endpoints', answers: { 200: 'WebhookEndpointList' } },
    description: 'All of them, your webhook_url first, with how each is doing.',
  }),
  me('post', PATH, {
    ...{ id: 'createWebhookEndpoint', tag: 'Endpoints', summary: 'Add an endpoint', body: 'CreateWebhookEndpoint' },
    description:
      'Up to ten beside your webhook_url. Each has its own secret, attempts and pace: one that does not answer holds up no other.',
    answers: { 201: 'WebhookEndpoint' },
    errors: ['invalid_state'],
  }),
  me('get', `${PATH}/:id`, { ...one, id: 'getWebhookEndpoint', summary: 'Get an endpoint', errors: [...owned, 'invalid_state'] }),
  me('patch', `${PATH}/:id`, {
    ...{ ...one, id: 'updateWebhookEndpoint', summary: 'Change, pause or resume an endpoint', body: 'UpdateWebhookEndpoint' },
    description: 'While it is paused its deliveries wait, for as long as events are kept.',
    errors: [...owned, 'invalid_state'],
  }),
  me('delete', `${PATH}/:id`, {
    ...{ ...one, id: 'deleteWebhookEndpoint', summary: 'Delete an endpoint', answers: { 200: 'DeletedWebhookEndpoint' } },
    description: 'What still waits for it ends as dead.',
    errors: [...owned, 'invalid_state'],
  }),
  me('post', `${PATH}/:id/rotate-secret`, {
    ...{ ...one, id: 'rotateEndpointSecret', summary: 'Get a new secret for an endpoint' },
    description:
      'The standard format signs with both for 24 hours. In the other format the new one waits until you activate it, or for 24 hours.',
    errors: [...owned, 'invalid_state'],
  }),
  me('post', `${PATH}/:id/activate-secret`, {
    ...{ ...one, id: 'activateEndpointSecret', summary: 'Put the new secret in force, and the old one out of it' },
    errors: [...owned, 'invalid_state'],
  }),
  me('post', `${PATH}/:id/test`, {
    ...{ id: 'testWebhookEndpoint', tag: 'Endpoints', summary: 'Send a test event to an endpoint', answers: { 201: 'Delivery' } },
    description: 'An event `endpoint.test` that goes to this endpoint alone.',
    errors: [...owned, 'invalid_state'],
  }),
]

/** The same for a named key. */
export const endpointsByKey: Operation[] = endpoints.map(({ path, id, method, credential: _session, permission: _same, ...rest }) =>
  api(method, path.replace('/api/v1/merchants/me', ''), { ...rest, id: `${id}OfKey` }),
)
