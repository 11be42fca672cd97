import { page } from '../page'
import { languages, type Section } from '../section'
import { changesSections } from './changes'
import { exceptionsGuide } from './exceptions-guide'
import { paymentsGuide } from './payments-guide'
import { productionGuide } from './production-guide'
import { quickstart } from './quickstart'
import { refundsGuide } from './refunds-guide'
import { sdkReferenceSections } from './sdk-reference-page'
import { testingGuide } from './testing-guide'
import { webhooksGuide } from './webhooks-guide'

/** The quickstart; on a developer's machine with the API key of its sample merchant. */
export const quickstartPage = (base: string, apiKey?: string): string =>
  guidePage('From a key to a verified webhook', quickstart(base, apiKey))

/** The pages that teach, by their paths. */
export const guidePages = (base: string): readonly (readonly [path: string, html: string])[] => [
  ['/docs/quickstart', quickstartPage(base)],
  ['/docs/webhooks', guidePage('Receiving webhooks', webhooksGuide)],
  ['/docs/testing', guidePage('Testing on your own machine', testingGuide)],
  ['/docs/payments', guidePage('What becomes of an order', paymentsGuide(base))],
  ['/docs/exceptions', guidePage('Money that did not fit', exceptionsGuide)],
  ['/docs/refunds', guidePage('Returning money', refundsGuide)],
  ['/docs/production', guidePage('Going to production', productionGuide)],
  ['/docs/sdk', guidePage('The SDK for TypeScript and JavaScript', sdkReferenceSections)],
  ['/docs/changes', guidePage('What the interface gained', changesSections)],
]

function guidePage(title: string, sections: readonly Section[]): string {
  const links = sections.map(({ id, title }) => `<a href="#${id}">${title}</a>`).join('')
  const body = sections.map(({ id, title, html }) => `<section><h2 id="${id}">${title}</h2>${html}</section>`).join('')
  return page(title, `<header><h1>${title}</h1><nav aria-label="On this page">${links}</nav></header>${languageChoice(body)}${body}`)
}

/** One choice for all programs of a page, by style alone; a browser that does not know `:has` shows every language. */
function languageChoice(body: string): string {
  const offered = Object.entries(languages).filter(([, end]) => body.includes(`<figure class="${end}">`))
  const choices = offered.map(
    ([language, end], at) => `<label><input type="radio" name="language" id="in-${end}"${at === 0 ? ' checked' : ''}>${language}</label>`,
  )
  return offered.length > 1 ? `<fieldset class="languages"><legend>Programs in</legend>${choices.join('')}</fieldset>` : ''
}
