import { spawn } from 'node:child_process'
import { join } from 'node:path'

export interface Load {
  requestsPerS: number
  p50Ms: number
  p99Ms: number
  not2xx: number
}

/** Load from a process of its own, so that making it costs the measured one nothing but the core. */
export async function load(options: {
  url: string
  method: string
  headers: Record<string, string>
  body?: string
  seconds: number
  connections: number
}): Promise<Load> {
  const args = ['--json', '--no-progress', '-c', String(options.connections), '-d', String(options.seconds), '-m', options.method]
  for (const [name, value] of Object.entries(options.headers)) args.push('-H', `${name}=${value}`)
  if (options.body) args.push('-b', options.body)
  // The id placeholder gives every request a key of its own.
  if (JSON.stringify(options.headers).includes('[<id>]')) args.push('--idReplacement', 'true')
  const child = spawn(process.execPath, [join(__dirname, '../../../node_modules/autocannon/autocannon.js'), ...args, options.url])
  let output = ''
  let complaint = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stderr.on('data', chunk => {
    complaint += chunk
  })
  const code = await new Promise(resolve => child.once('close', resolve))
  if (code !== 0) throw new Error(`autocannon ended with ${code}: ${complaint}`)
  const result = JSON.parse(output)
  return {
    requestsPerS: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    not2xx: result.non2xx + result.errors,
  }
}
