import { page } from './page'
import { paymentsGuide } from './payments-guide'
import { quickstart } from './quickstart'
import type { Section } from './section'
import { webhooksGuide } from './webhooks-guide'

/** The pages that teach, by their paths. */
export const guidePages = (base: string): readonly (readonly [path: string, html: string])[] => [
  ['/docs/quickstart', guidePage('From a key to a verified webhook', quickstart(base))],
  ['/docs/webhooks', guidePage('Receiving webhooks', webhooksGuide)],
  ['/docs/payments', guidePage('What becomes of an order', paymentsGuide)],
]

function guidePage(title: string, sections: readonly Section[]): string {
  const links = sections.map(({ id, title }) => `<a href="#${id}">${title}</a>`).join('')
  const body = sections.map(({ id, title, html }) => `<section><h2 id="${id}">${title}</h2>${html}</section>`).join('')
  return page(title, `<header><h1>${title}</h1><nav aria-label="On this page">${links}</nav></header>${body}`)
}
