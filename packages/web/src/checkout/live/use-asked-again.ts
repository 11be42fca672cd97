import { useEffect, useState } from 'react'
import { ask, RequestFailed } from '../../problem'

/** While no server answers. */
const SOON_MS = 3_000

export interface AskedAgain<Body> {
  body: Body | null
  failure: RequestFailed | null
  /** Takes a newer body, which another request has brought. */
  setBody(body: Body): void
}

/** The body at a path, asked for again while the page is looked at. `pauseMs` is of the module, or kept: null where nothing more can come. */
export function useAskedAgain<Body>(path: string, pauseMs: (body: Body) => number | null): AskedAgain<Body> {
  const [body, setBody] = useState<Body | null>(null)
  const [failure, setFailure] = useState<RequestFailed | null>(null)
  useEffect(() => {
    const gone = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async () => {
      clearTimeout(timer)
      const again = await ask<Body>(path, { signal: gone.signal }).then(
        answer => {
          setBody(answer.body)
          setFailure(null)
          return pauseMs(answer.body)
        },
        error => {
          if (!(error instanceof RequestFailed)) return null
          setFailure(error)
          return error.status === 404 || error.status === 400 ? null : SOON_MS
        },
      )
      if (again !== null && !gone.signal.aborted) timer = setTimeout(seen, again)
    }
    const seen = () => {
      if (document.visibilityState === 'visible') void look()
    }
    document.addEventListener('visibilitychange', seen)
    void look()
    return () => {
      gone.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [path, pauseMs])
  return { body, failure, setBody }
}
