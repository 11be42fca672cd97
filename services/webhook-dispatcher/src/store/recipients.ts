import { SPECIFIED_EVENTS } from '@ponte/contracts'

/** The kinds that a merchant's `webhook_url` receives, as a list in SQL. */
export const SPECIFIED = SPECIFIED_EVENTS.map(type => `'${type}'`).join(', ')
