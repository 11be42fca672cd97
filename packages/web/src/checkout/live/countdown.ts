import { useEffect, useState } from 'react'

const secondsUntil = (iso: string, clockOffsetMs: number) => Math.max(0, Math.ceil((Date.parse(iso) - clockOffsetMs - Date.now()) / 1000))

/** Whole seconds until a moment by the server's clock; never below zero. */
export function useSecondsUntil(iso: string, clockOffsetMs: number): number {
  const [seconds, setSeconds] = useState(() => secondsUntil(iso, clockOffsetMs))
  useEffect(() => {
    const tick = () => setSeconds(secondsUntil(iso, clockOffsetMs))
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [iso, clockOffsetMs])
  return seconds
}

/** `29:59`, `3:00:00`, `2 d 04:00:00`. */
export function clock(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const days = Math.floor(seconds / 86_400)
  const hours = Math.floor(seconds / 3600) % 24
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  if (days > 0) return `${days} d ${two(hours)}:${rest}`
  return hours > 0 ? `${hours}:${rest}` : rest
}
