import { connect } from 'amqplib'
import { type Message, rabbitmqBus, silentLogger, until } from '../../src'
import { testBroker } from '../../src/testing'
import { busContract } from './bus-contract'

busContract('RabbitMQ', async topology => {
  const broker = testBroker()
  const bus = rabbitmqBus({ ...broker, topology, logger: silentLogger, handBackMs: 200 })
  await bus.start?.()
  await until(() => bus.accepts(), 'RabbitMQ does not answer')
  const side = await connect(broker.url)
  const looking = await side.createChannel()
  const parked: { queue: string; message: Message }[] = []
  return {
    bus,
    queued: published => Promise.all(published),
    async deadLetters(queue) {
      for (;;) {
        const got = await looking.get(`${broker.namespace}.dead.${queue}`, { noAck: true })
        if (!got) break
        parked.push({
          queue,
          message: { id: String(got.properties.messageId), type: String(got.properties.type), body: got.content.toString('utf8') },
        })
      }
      return parked.filter(each => each.queue === queue).map(each => each.message)
    },
    async stop() {
      await bus.stop?.()
      for (const queue of Object.keys(topology)) {
        await looking.deleteQueue(`${broker.namespace}.${queue}`)
        await looking.deleteQueue(`${broker.namespace}.dead.${queue}`)
        await looking.deleteQueue(`${broker.namespace}.later.${queue}`)
      }
      await looking.deleteExchange(`${broker.namespace}.events`)
      await side.close()
    },
  }
})
