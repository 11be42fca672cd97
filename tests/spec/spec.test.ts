import { models, quint, sample } from './quint'

/** `npm run spec` samples thousands. */
const SAMPLES = 40

describe.each(models)('spec/$name.qnt', model => {
  const { name, wrongStep } = model

  test('has types, and its named runs go as they state', async () => {
    const { code, output } = await quint('test', `spec/${name}.qnt`, `--main=${name}`)
    expect(output).toMatch(/\d+ passing/)
    expect(code).toBe(0)
  })

  test('keeps what must never happen in sampled runs, in which things happen', async () => {
    const seen = await sample(model, SAMPLES, 1)
    expect(Math.max(...seen.values())).toBeGreaterThan(0)
  })

  if (wrongStep !== undefined) {
    test(`finds the fault of ${wrongStep}`, async () => {
      await expect(sample({ ...model, step: wrongStep }, 2_000, 1)).rejects.toThrow('Invariant violated')
    })
  }
})
