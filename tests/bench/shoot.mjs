import { randomUUID } from 'node:crypto'
import autocannon from 'autocannon'

// The process that makes the load: its options come as one argument, its result goes out as JSON.

const { seconds, halfKeyed, ...options } = JSON.parse(process.argv[2])
let count = 0
const setupRequest = request =>
  count++ % 2 === 0 ? request : { ...request, headers: { ...request.headers, 'Idempotency-Key': randomUUID() } }

const { requests, latency, non2xx, errors } = await autocannon({
  ...options,
  duration: seconds,
  ...(halfKeyed ? { requests: [{ setupRequest }] } : {}),
})
console.log(JSON.stringify({ requests, latency, non2xx, errors }))
