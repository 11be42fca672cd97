import { exportDeliveries, listDeliveries, replayDeliveries } from '../api/delivery'
import { eventQuery, listEvents } from '../api/event'
import { createEndpoint, updateEndpoint } from '../api/webhook-endpoint'
import { byEither, file, guarded, internal, owned } from './operation'

const owner = 'webhook-dispatcher'
const pulls = { owner, permission: 'events:read', tag: 'Events' } as const
const reads = { owner, permission: 'deliveries:read', tag: 'Events' } as const
const replays = { owner, permission: 'deliveries:write', tag: 'Events' } as const

export const events = {
  listEvents: byEither('get', '/events', {
    ...{ ...pulls, alias: 'listMyEvents', summary: 'List the webhook events of 30 days', query: listEvents, answers: { 200: 'EventList' } },
    description:
      'Newest first; with `after`, the cursor of an event, those behind it, oldest first and without gaps. When the database of events was put back to an earlier moment, numbers ' +
      'are given again: a cursor of what is lost is answered 410 `events_reset`, and `resume_after` is where to go on.',
    errors: ['events_reset'],
  }),
  getEvent: byEither('get', '/events/:id', {
    ...{ ...pulls, alias: 'getMyEvent', summary: 'Get a webhook event', query: eventQuery, answers: { 200: 'Event' }, errors: owned },
  }),
  listDeliveries: byEither('get', '/deliveries', {
    ...{ ...reads, alias: 'listDeliveries', summary: 'List webhook deliveries', query: listDeliveries, answers: { 200: 'DeliveryList' } },
  }),
  exportDeliveries: file('/deliveries.csv', { ...reads, alias: 'exportMyDeliveries', query: exportDeliveries }, 'webhook deliveries'),
  getDelivery: byEither('get', '/deliveries/:id', {
    ...{ ...reads, alias: 'getDelivery', summary: 'Get a delivery with its attempts', answers: { 200: 'DeliveryDetail' }, errors: owned },
  }),
  replayDelivery: byEither('post', '/deliveries/:id/replay', {
    ...{ ...replays, alias: 'replayDelivery', audit: 'delivery.replay', creates: 'getDelivery', summary: 'Deliver an event again' },
    answers: { 200: 'Delivery', 201: 'Delivery' },
    errors: [...owned, 'invalid_state'],
  }),
  replayDeliveries: byEither('post', '/deliveries/replay', {
    ...{ ...replays, alias: 'replayDeliveries', audit: 'deliveries.replay', summary: 'Deliver the events of a time range again' },
    body: replayDeliveries,
    example: { created_gte: '2026-11-20T00:00:00.000Z', created_lt: '2026-11-21T00:00:00.000Z', scope: 'undelivered' },
    answers: { 200: 'Replayed' },
    errors: ['invalid_state'],
  }),

  countDeliveries: internal('get', '/deliveries/overview', { owner }),
}

const sees = { owner, permission: 'endpoints:read', tag: 'Endpoints' } as const
const sets = { owner, permission: 'endpoints:write', tag: 'Endpoints' } as const
const one = { answers: { 200: 'WebhookEndpoint' }, errors: [...owned, 'invalid_state'] } as const

export const endpoints = {
  listWebhookEndpoints: byEither('get', '/webhook-endpoints', {
    ...{ ...sees, alias: 'listWebhookEndpoints', summary: 'List your endpoints', answers: { 200: 'WebhookEndpointList' } },
    description: 'All of them, your webhook_url first, with how each is doing.',
  }),
  createWebhookEndpoint: byEither('post', '/webhook-endpoints', {
    ...{
      ...sets,
      alias: 'createWebhookEndpoint',
      ...guarded,
      secret: 'made',
      audit: 'endpoint.create',
      creates: 'getWebhookEndpoint',
      summary: 'Add an endpoint',
    },
    description:
      'Up to ten beside your webhook_url. Each has its own secret, attempts and pace: one that does not answer holds up no other.',
    body: createEndpoint,
    example: { url: 'https://erp.example.com/ponte', events: ['order.paid', 'order.settled'], format: 'standard' },
    answers: { 201: 'WebhookEndpoint' },
    errors: ['invalid_state'],
  }),
  getWebhookEndpoint: byEither('get', '/webhook-endpoints/:id', {
    ...{ ...sees, ...one, alias: 'getWebhookEndpoint', secret: 'shown', summary: 'Get an endpoint' },
    description:
      'Its secret is null but for a login of the last minutes that may change endpoints: that it was shown stands in the audit log and in a mail.',
  }),
  updateWebhookEndpoint: byEither('patch', '/webhook-endpoints/:id', {
    ...{
      ...sets,
      ...one,
      alias: 'updateWebhookEndpoint',
      ...guarded,
      audit: 'endpoint.update',
      summary: 'Change, pause or resume an endpoint',
    },
    description: 'While it is paused its deliveries wait, for as long as events are kept.',
    body: updateEndpoint,
    example: { paused: true },
  }),
  deleteWebhookEndpoint: byEither('delete', '/webhook-endpoints/:id', {
    ...{ ...sets, ...one, alias: 'deleteWebhookEndpoint', ...guarded, audit: 'endpoint.delete', summary: 'Delete an endpoint' },
    description: 'What still waits for it ends as dead.',
    answers: { 200: 'DeletedWebhookEndpoint' },
  }),
  rotateEndpointSecret: byEither('post', '/webhook-endpoints/:id/rotate-secret', {
    ...{
      ...sets,
      ...one,
      alias: 'rotateEndpointSecret',
      ...guarded,
      secret: 'made',
      audit: 'endpoint_secret.rotate',
      summary: 'Get a new secret for an endpoint',
    },
    description:
      'The standard format signs with both for 24 hours. In the other format the new one waits until you activate it, or for 24 hours.',
  }),
  activateEndpointSecret: byEither('post', '/webhook-endpoints/:id/activate-secret', {
    ...{ ...sets, ...one, alias: 'activateEndpointSecret', ...guarded, audit: 'endpoint_secret.activate' },
    summary: 'Put the new secret in force, and the old one out of it',
  }),
  testWebhookEndpoint: byEither('post', '/webhook-endpoints/:id/test', {
    ...{ ...sets, ...one, alias: 'testWebhookEndpoint', audit: 'endpoint.test', creates: 'getDelivery' },
    summary: 'Send a test event to an endpoint',
    description: 'An event `endpoint.test` that goes to this endpoint alone.',
    answers: { 201: 'Delivery' },
  }),
}
