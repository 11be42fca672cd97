import type { BrandingBody } from '@ponte/contracts'
import { useEffect, useState } from 'react'
import { ask } from '../../problem'
import { readableOn, textOn } from './readable-colour'

/** Null until the look is known, and where it cannot be asked. The page works without. */
export function useBranding(orderId: string, isThere: boolean): BrandingBody | null {
  const [branding, setBranding] = useState<BrandingBody | null>(null)
  useEffect(() => {
    if (!isThere) return
    const gone = new AbortController()
    ask<BrandingBody>(`/api/v1/checkout/${encodeURIComponent(orderId)}/branding`, { signal: gone.signal }).then(
      ({ body }) => setBranding(body),
      () => setBranding(null),
    )
    return () => gone.abort()
  }, [orderId, isThere])
  const color = branding?.color ?? null
  useEffect(() => (color === null ? undefined : paint(color)), [color])
  return branding
}

const BACKGROUNDS = ['--card', '--sunken', '--paper']
const PAINTED = ['--accent', '--accent-strong', '--on-accent']

/** Sets the accent of the theme in use, and again when the theme changes. */
function paint(color: string): () => void {
  const { style } = document.documentElement
  const apply = () => {
    const current = getComputedStyle(document.documentElement)
    const accent = readableOn(
      color,
      BACKGROUNDS.map(name => current.getPropertyValue(name).trim()),
    )
    const values = [accent, accent, textOn(accent)]
    PAINTED.forEach((name, n) => {
      style.setProperty(name, values[n] ?? accent)
    })
  }
  apply()
  const watcher = new MutationObserver(apply)
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
  return () => {
    watcher.disconnect()
    for (const name of PAINTED) style.removeProperty(name)
  }
}
