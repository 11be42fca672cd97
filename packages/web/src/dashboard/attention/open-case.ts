import { type KeyboardEvent, useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'

const withItem = (from: URLSearchParams, id: string | undefined) => {
  const next = new URLSearchParams(from)
  if (id === undefined) next.delete('item')
  else next.set('item', id)
  return next
}

/** The case that is open stands in the address; the focus and the keys go from the list to it and back. */
export function useOpenCase(openId: string | undefined) {
  const [search, setSearch] = useSearchParams()
  const work = useRef<HTMLDivElement>(null)
  const entry = useRef<HTMLElement>(null)
  const before = useRef(openId)
  const open = (id: string | undefined) => setSearch(previous => withItem(previous, id), { replace: true })

  useEffect(() => {
    if (before.current === openId) return
    const row = work.current?.querySelector<HTMLElement>(`[data-id="${before.current}"]`)
    before.current = openId
    const target = openId === undefined ? row : entry.current
    target?.focus()
  }, [openId])

  // Keys of one letter count while the focus is in the work alone: elsewhere they belong to the browser and to screen readers.
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, target, ctrlKey, metaKey, altKey } = event
    if (!(target instanceof HTMLElement) || ctrlKey || metaKey || altKey) return
    if (target.closest('input, textarea, select, [role=dialog]')) return
    if (key === 'Escape' && openId !== undefined) return open(undefined)
    if (key === 'h') return work.current?.querySelector<HTMLElement>('[aria-keyshortcuts=h]')?.click()
    const isInList = target.dataset.id !== undefined
    const isDown = key === 'j' || (isInList && key === 'ArrowDown')
    if (!isDown && key !== 'k' && !(isInList && key === 'ArrowUp')) return
    event.preventDefault()
    const rows = [...(work.current?.querySelectorAll<HTMLElement>('[data-id]') ?? [])]
    const at = rows.findIndex(({ dataset }) => dataset.id === (isInList ? target.dataset.id : openId))
    const to = rows[at + (isDown ? 1 : -1)]
    if (isInList || openId === undefined) to?.focus()
    else if (to) open(to.dataset.id)
  }
  return { open, hrefOf: (id: string) => `/attention?${withItem(search, id)}`, work: { ref: work, onKeyDown }, entry }
}
