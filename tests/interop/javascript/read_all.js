// Reads a topic from its beginning with kafkajs until `wanted` records or `seconds` have passed; prints their offsets.
const [brokers, topic, wanted, seconds] = process.argv.slice(2)
const { Kafka, logLevel } = require('kafkajs')

async function main() {
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId: `kafkajs-${process.pid}`, maxWaitTimeInMs: 200 })
  const offsets = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await new Promise((resolve) => {
    setTimeout(resolve, Number(seconds) * 1000)
    consumer.run({
      eachMessage: async ({ message }) => {
        offsets.push(Number(message.offset))
        if (offsets.length >= Number(wanted)) resolve()
      },
    })
  })
  console.log(JSON.stringify(offsets))
  process.exit(0)
}

main()
