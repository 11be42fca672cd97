import { escapeHtml } from './page-text'

/** A part of a page of the guide. */
export interface Section {
  id: string
  title: string
  html: string
}

/** Code as it is typed; it can be reached and scrolled by keyboard. */
export const code = (text: string): string => `<pre tabindex="0">${escapeHtml(text)}</pre>`
