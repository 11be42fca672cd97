/** Meaning of query parameters, wherever they stand. */
export const QUERY: Record<string, string> = {
  limit: '1 to 100; 20 when absent',
  starting_after: 'The page after this id, which is older',
  ending_before: 'The page before this id, which is newer',
  created_gte: 'Created at this time or later',
  created_lt: 'Created before this time',
  paid_gte: 'Paid at this time or later; the list is then in order of payment',
  paid_lt: 'Paid before this time; the list is then in order of payment',
  brl_amount: 'Of exactly this amount',
  description: 'With this in the description, in any case',
  text: 'With this in the description or in the reference, in any case',
  after: 'Events behind this `cursor` of an event, oldest first; its sequence alone does not show that numbers were given again',
  wait: 'With `after`: seconds to wait for the first one, up to 20',
  include: '`body` adds to each event the bytes that webhooks send',
  order_id: 'About this order',
  subscription_id: 'About this subscription',
  endpoint_id: 'To this endpoint; your own id for your webhook_url',
}
