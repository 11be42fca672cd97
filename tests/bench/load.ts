import { spawn } from 'node:child_process'
import { join } from 'node:path'

export interface Load {
  requestsPerS: number
  p50Ms: number
  p99Ms: number
  not2xx: number
}

export interface LoadOptions {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  seconds: number
  connections: number
  /** Give every second request an Idempotency-Key of its own. */
  halfKeyed?: boolean
}

/** Load from a process of its own, so that making it costs the measured one nothing but the core. */
export async function load(options: LoadOptions): Promise<Load> {
  const child = spawn(process.execPath, [join(__dirname, 'shoot.mjs'), JSON.stringify(options)])
  let output = ''
  let complaint = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stderr.on('data', chunk => {
    complaint += chunk
  })
  const code = await new Promise(resolve => child.once('close', resolve))
  if (code !== 0) throw new Error(`The load ended with ${code}: ${complaint}`)
  const result = JSON.parse(output)
  return {
    requestsPerS: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    not2xx: result.non2xx + result.errors,
  }
}
