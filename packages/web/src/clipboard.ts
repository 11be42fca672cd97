import { useEffect, useState } from 'react'

const SHOWN_MS = 1800

/** Copies a text and states for a moment that it did. Without the clipboard API (plain http) the old command does it. */
export function useCopy(): { copied: boolean; copy(text: string): void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return {
    copied,
    copy: text => void write(text).then(() => setCopied(true)),
  }
}

async function write(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}
