import { createLink, listLinks, openLink } from '../api/link'
import { byEither, byLink, priced } from './operation'

const reads = { owner: 'orders', permission: 'orders:read', tag: 'Links' } as const
const writes = { owner: 'orders', permission: 'orders:write', tag: 'Links' } as const
const ofPayers = { owner: 'orders', permission: null, tag: 'Checkout' } as const

export const links = {
  createLink: byEither('post', '/links', {
    ...{ ...writes, alias: 'createMyLink', audit: 'link.create', unrecordedByKey: true, creates: 'getLink' },
    summary: 'Make a payment link',
    description:
      'A page that asks for reais, and is quoted when a payer opens an order on it: no rate is promised before. Send `url` to whom you like; a program that ' +
      'previews it opens nothing.',
    body: createLink,
    example: { kind: 'invoice', brl_amount: '150.00', description: 'Consulting, November', external_ref: 'INV-7' },
    answers: { 201: 'Link' },
  }),
  listLinks: byEither('get', '/links', {
    ...{ ...reads, alias: 'listMyLinks', summary: 'List your payment links', query: listLinks, answers: { 200: 'LinkList' } },
  }),
  getLink: byEither('get', '/links/:id', {
    ...{ ...reads, alias: 'getMyLink', summary: 'Get a payment link', answers: { 200: 'Link' }, errors: ['not_found'] },
  }),
  endLink: byEither('post', '/links/:id/end', {
    ...{ ...writes, alias: 'endMyLink', audit: 'link.end', summary: 'End a payment link' },
    description: 'It opens no order any more. One that is open stays so until its own end: cancel it if it shall not be paid.',
    answers: { 200: 'Link' },
    errors: ['not_found'],
  }),

  getPayerLink: byLink('get', '/payer/links/:payer_token', {
    ...{ ...ofPayers, summary: 'What a payer sees of a payment link', answers: { 200: 'PayerLink' }, errors: ['not_found'] },
    description: 'The token is the end of the `url` of a link. Reading it opens nothing and fixes no rate.',
  }),
  openLink: byLink('post', '/payer/links/:payer_token/order', {
    ...{ ...ofPayers, summary: 'Open an order by a payment link', opensByLink: true, body: openLink, answers: { 200: 'PayerLink' } },
    description: 'At the rate of this moment. Of an invoice at most one is open: asked again, or by many at once, that one is the answer.',
    example: { brl_amount: '150.00' },
    errors: ['not_found', 'invalid_state', ...priced, 'payout_address_refused'],
  }),
} as const
