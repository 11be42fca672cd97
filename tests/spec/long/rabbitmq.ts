import { IN_SERVICE, LONG_MS, replayIntoServices, SEED } from '../long-runs'

test(
  `${IN_SERVICE} runs of seed ${SEED} differ after no step from the running service, over rabbitmq`,
  () => replayIntoServices('rabbitmq'),
  LONG_MS,
)
