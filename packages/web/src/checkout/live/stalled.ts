import { useEffect, useState } from 'react'

/** True once a value has been the same for so long. */
export function useStalled(value: unknown, afterMs: number): boolean {
  const [stalled, setStalled] = useState<unknown>()
  useEffect(() => {
    const timer = setTimeout(() => setStalled(value), afterMs)
    return () => clearTimeout(timer)
  }, [value, afterMs])
  return stalled === value && stalled !== undefined
}
