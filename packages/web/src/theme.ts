import { useSyncExternalStore } from 'react'
import { remember, remembered } from './memory'

export type Theme = 'light' | 'dark'

const KEY = 'ponte.theme'
const system = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

function chosen(): Theme | null {
  const text = remembered(KEY)
  return text === 'light' || text === 'dark' ? text : null
}

const current = (): Theme => chosen() ?? (system.matches ? 'dark' : 'light')

function apply(): void {
  const theme = current()
  document.documentElement.dataset.theme = theme
  document.documentElement.dataset.mantineColorScheme = theme
  for (const listener of listeners) listener()
}

/** Puts the page into the chosen theme, or into the system's, and follows it. */
export function startTheme(): void {
  system.addEventListener('change', apply)
  apply()
}

export function toggleTheme(): void {
  remember(KEY, current() === 'dark' ? 'light' : 'dark')
  apply()
}

export const useTheme = (): Theme =>
  useSyncExternalStore(listener => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, current)
