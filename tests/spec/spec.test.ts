import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { models, quint, root, sample } from './quint'

/** `npm run spec` samples thousands. */
const SAMPLES = 40

describe.each([...new Set(models.map(({ name }) => name))])('spec/%s.qnt', name => {
  test('has types, and each of its named runs goes as it states', async () => {
    const named = [...readFileSync(join(root, `spec/${name}.qnt`), 'utf8').matchAll(/^ {2}run (\w+Test) =/gm)].map(([, run]) => run)
    const { code, output } = await quint('test', `spec/${name}.qnt`, `--main=${name}`, '--max-samples=10')
    expect([...output.matchAll(/ok (\w+) passed/g)].map(([, run]) => run)).toEqual(named)
    expect(named).not.toEqual([])
    expect(code).toBe(0)
  })
})

describe.each(models)('spec/$name.qnt by its $step', model => {
  const { wrongStep } = model

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
