import { useSyncExternalStore } from 'react'
import { remember, remembered } from './memory'

export type Language = 'pt' | 'en'

const KEY = 'ponte.language'
const listeners = new Set<() => void>()

function first(): Language {
  const kept = remembered(KEY)
  if (kept === 'pt' || kept === 'en') return kept
  return navigator.languages.some(tag => tag.toLowerCase().startsWith('pt')) ? 'pt' : 'en'
}

let language: Language = first()

/** `pt-BR` or `en`, for `lang` and for Intl. */
export const localeOf = (of: Language): string => (of === 'pt' ? 'pt-BR' : 'en')

function apply(): void {
  document.documentElement.lang = localeOf(language)
  for (const listener of listeners) listener()
}

export function setLanguage(next: Language): void {
  language = next
  remember(KEY, next)
  apply()
}

/** Applies the language that was chosen before, or the browser's, and answers it. */
export function startLanguage(): Language {
  apply()
  return language
}

export const useLanguage = (): Language =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => language,
  )
