import { LONG_MS, SAMPLES, SEED } from '../long-runs'
import { models, sample } from '../quint'

// Prints how often each thing was seen.
describe.each(models)('spec/$name.qnt by its $step', model => {
  test(
    `keeps what must never happen in ${SAMPLES} runs of seed ${SEED}`,
    async () => {
      const seen = await sample(model, SAMPLES, SEED)
      console.log(
        `${model.name} by its ${model.step}: ${[...seen].map(([witness, count]) => `${witness} ${count}`).join(', ')} of ${SAMPLES}`,
      )
      for (const count of seen.values()) expect(count).toBeGreaterThan(0)
    },
    LONG_MS,
  )
})
