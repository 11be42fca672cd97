import { Ponte } from '@ponte/sdk'

// Next.js may bundle each route by itself: what they share stands on globalThis. In a real shop it stands in a database.
globalThis.invoices ??= new Map()
globalThis.handledEvents ??= new Set()

export const { invoices, handledEvents } = globalThis

/** Made when it is used: `next build` loads the routes without the settings. */
export const ponte = () => new Ponte(process.env.PONTE_API_KEY, { baseUrl: process.env.PONTE_URL })
