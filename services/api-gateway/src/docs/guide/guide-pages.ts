import { page } from '../page'
import type { Section } from '../section'
import { changesSections } from './changes'
import { paymentsGuide } from './payments-guide'
import { quickstart } from './quickstart'
import { sdkReferenceSections } from './sdk-reference-page'
import { webhooksGuide } from './webhooks-guide'

/** The quickstart; on a developer's machine with the API key of its sample merchant. */
export const quickstartPage = (base: string, apiKey?: string): string =>
  guidePage('From a key to a verified webhook', quickstart(base, apiKey))

/** The pages that teach, by their paths. */
export const guidePages = (base: string): readonly (readonly [path: string, html: string])[] => [
  ['/docs/quickstart', quickstartPage(base)],
  ['/docs/webhooks', guidePage('Receiving webhooks', webhooksGuide)],
  ['/docs/payments', guidePage('What becomes of an order', paymentsGuide)],
  ['/docs/sdk', guidePage('The SDK for TypeScript and JavaScript', sdkReferenceSections)],
  ['/docs/changes', guidePage('What the interface gained', changesSections)],
]

function guidePage(title: string, sections: readonly Section[]): string {
  const links = sections.map(({ id, title }) => `<a href="#${id}">${title}</a>`).join('')
  const body = sections.map(({ id, title, html }) => `<section><h2 id="${id}">${title}</h2>${html}</section>`).join('')
  return page(title, `<header><h1>${title}</h1><nav aria-label="On this page">${links}</nav></header>${body}`)
}
