import type { Logger, Part } from '@ponte/service-kit'
import { WebSocket } from 'undici'

const RECONNECT_MS_MIN = 250
const RECONNECT_MS_MAX = 15_000

/**
 * Listens for new heads and wakes the scan: a hint that makes it quick, never a source of truth. It connects again for ever, also when
 * the connection looks alive but has been silent for `silenceMs`.
 */
export function newHeads(options: { url: string; silenceMs: number; wake(): void; logger: Logger }): Part {
  const { logger } = options
  let socket: WebSocket | undefined
  let timer: NodeJS.Timeout | undefined
  let failures = 0
  let stopped = false

  const again = (reason: string) => {
    clearTimeout(timer)
    const was = socket
    socket = undefined
    was?.close()
    if (stopped) return
    const waitMs = Math.min(RECONNECT_MS_MIN * 2 ** failures++, RECONNECT_MS_MAX)
    logger.debug('new heads do not arrive; connecting again', { reason, wait_ms: waitMs })
    timer = setTimeout(connect, waitMs)
  }
  const watch = () => {
    clearTimeout(timer)
    timer = setTimeout(() => again('silence'), options.silenceMs)
  }
  const connect = () => {
    const fresh = new WebSocket(options.url)
    socket = fresh
    const current = () => socket === fresh && !stopped
    watch()
    fresh.addEventListener('open', () => {
      if (current()) fresh.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))
    })
    fresh.addEventListener('message', event => {
      if (!current()) return
      failures = 0
      watch()
      if (String(event.data).includes('"eth_subscription"')) options.wake()
    })
    fresh.addEventListener('error', () => current() && again('error'))
    fresh.addEventListener('close', () => current() && again('closed'))
  }
  return {
    name: 'new heads',
    async start() {
      connect()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      socket?.close()
    },
  }
}
