import type { Locator, Page } from 'playwright-core'

/** A step of a person's path through the pages: how long it took, and what may make a person hesitate before it. */
export interface Step {
  name: string
  seconds: number
  hesitations: string[]
}

/** A longer pause is noticed as a wait. */
const WAIT_NOTICED_S = 1
/** More to choose from at once than this asks for a decision. */
const CHOICES_MAX = 9
const WORDS_MAX = 120

interface Asked {
  name: string
  /** To be found and used; none where the person only waits. */
  target?: Locator
  act(): Promise<unknown>
  /** Shows that the step is done. */
  done: Locator
  /** A person's possible doubt here, which no measurement shows. */
  question?: string
}

/** Walks a path, measuring each step in the browser that a person would use. */
export function pathRecorder(page: Page) {
  const steps: Step[] = []
  return {
    steps,
    async step({ name, target, act, done, question }: Asked, on: Page = page): Promise<void> {
      const hesitations = target ? await before(on, target) : []
      if (question) hesitations.push(question)
      const begin = performance.now()
      await act()
      await done.waitFor()
      const seconds = (performance.now() - begin) / 1_000
      if (seconds > WAIT_NOTICED_S) hesitations.push(`a wait of ${seconds.toFixed(1)} s`)
      steps.push({ name, seconds, hesitations })
    },
  }
}

/** Stands between a person and the next thing to use. */
async function before(page: Page, target: Locator): Promise<string[]> {
  await target.waitFor()
  const box = await target.boundingBox()
  const height = page.viewportSize()?.height ?? 0
  const below = box ? Math.round(box.y + box.height - height) : 0
  const { choices, words } = await page.evaluate<{ choices: number; words: number }>(IN_SIGHT)
  return [
    ...(below > 0 ? [`${below} px below what is in sight`] : []),
    ...(choices > CHOICES_MAX ? [`${choices} things to choose from in sight`] : []),
    ...(words > WORDS_MAX ? [`${words} words in sight`] : []),
  ]
}

// Runs in the page.
const IN_SIGHT = `(() => {
  const seen = element => {
    const { top, bottom, width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && bottom > 0 && top < innerHeight && getComputedStyle(element).visibility === 'visible'
  }
  const root = document.querySelector('[role=dialog]') ?? document.body
  const choices = [...root.querySelectorAll('a[href], button, input, select, summary')].filter(seen).length
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  let words = 0
  while (texts.nextNode()) if (texts.currentNode.parentElement && seen(texts.currentNode.parentElement)) words += texts.currentNode.data.split(/\\s+/).filter(Boolean).length
  return { choices, words }
})()`

/** The path as lines of text. */
export function pathText(title: string, steps: readonly Step[]): string {
  const total = steps.reduce((sum, { seconds }) => sum + seconds, 0)
  const lines = steps.map(({ name, seconds, hesitations }) =>
    [`${seconds.toFixed(1).padStart(6)} s  ${name}`, ...hesitations.map(text => `            – ${text}`)].join('\n'),
  )
  return [title, ...lines, `${total.toFixed(1).padStart(6)} s  in all`].join('\n')
}
