import type { Page } from 'playwright-core'
import { heading, type Stop } from './stop'

const openFirst = (within: string) => async (page: Page) => {
  await heading(page)
  await page.locator(`${within} summary`).first().click()
}

const documentation = (name: string, path: string, more: Partial<Stop> = {}): Stop => ({
  ...{ name, path: `/docs${path}`, ready: heading, isOfGateway: true, isEnglish: true },
  ...more,
})
const refusal = (name: string): Stop => ({ name: `gateway-${name}`, path: `/${name}`, ready: heading, isOfGateway: true })

/** The gateway's own pages in a browser: the documentation, and a page for its refusals. */
export const gatewayPages: readonly Stop[] = [
  documentation('docs', ''),
  documentation('docs-operation', '#createorder', { isWindow: true, ready: openFirst('#createorder') }),
  documentation('docs-quickstart', '/quickstart'),
  documentation('docs-webhooks', '/webhooks'),
  documentation('docs-payments', '/payments'),
  documentation('docs-sdk', '/sdk'),
  documentation('docs-errors', '/errors'),
  documentation('docs-changes', '/changes'),
  refusal('missing'),
  refusal('busy'),
  refusal('broken'),
]
