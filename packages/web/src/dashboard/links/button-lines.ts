import { type Language, localeOf } from '../../language'

/** Elements for a merchant's own page. A link's URL has no character that HTML gives a meaning. */
export const buttonLine = (url: string, language: Language): string =>
  `<script src="${new URL('/button.js', url).href}" data-link="${url}" data-lang="${localeOf(language)}" async></script>`
export const anchorLine = (url: string, text: string): string => `<a href="${url}">${text}</a>`
