// Loaded before a service by the fault harness, which moves the service's clock by messages. Only what asks for the time is moved; timers run on.
const RealDate = Date
let aheadMs = 0

class MovedDate extends RealDate {
  constructor(...given) {
    if (given.length > 0) super(...given)
    else super(MovedDate.now())
  }

  static now() {
    return RealDate.now() + aheadMs
  }

  static [Symbol.hasInstance](value) {
    return Object.prototype.toString.call(value) === '[object Date]'
  }
}

globalThis.Date = MovedDate
process.on('message', message => {
  if (typeof message.aheadMs === 'number') aheadMs = message.aheadMs
})
// The channel alone must not keep the service alive; and no service outlives the harness, however that ends.
process.channel?.unref()
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
