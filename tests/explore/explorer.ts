/**
 * Walks every state that a model can reach, breadth first, so that the first path to a violation is a shortest one. Nothing is sampled: what is not found
 * in a complete walk is not there, in the scope that the model states.
 */
export interface Model<State> {
  start: State
  /** Two states with one key behave alike from then on. */
  key(state: State): string
  /** Each thing that can happen next, with a name that a reader understands. */
  steps(state: State): Iterable<Step<State>>
  /** What is wrong in this state, each in a sentence; `isLast` when nothing can happen any more. */
  faults(state: State, isLast: boolean): Iterable<string>
}

export interface Step<State> {
  name: string
  next: State
}

export interface Walk {
  states: number
  transitions: number
  /** False when the bound on states was met first. */
  isComplete: boolean
  violations: Map<string, Violation>
}

export interface Violation {
  count: number
  /** What happened until then, by a shortest way. */
  path: string[]
}

interface Node<State> {
  state: State
  from: Node<State> | null
  name: string
}

export interface Bounds {
  statesMax?: number
  /** Ends with the level in which the first fault is found: its path is a shortest one. */
  stopsAtFault?: boolean
}

export function explore<State>(model: Model<State>, { statesMax = 5_000_000, stopsAtFault = false }: Bounds = {}): Walk {
  const walk: Walk = { states: 0, transitions: 0, isComplete: true, violations: new Map() }
  const seen = new Set([model.key(model.start)])
  let level: Node<State>[] = [{ state: model.start, from: null, name: '' }]
  while (level.length > 0) {
    const following: Node<State>[] = []
    for (const node of level) {
      if (walk.states === statesMax) return { ...walk, isComplete: false }
      walk.states++
      const before = walk.transitions
      for (const { name, next } of model.steps(node.state)) {
        walk.transitions++
        const key = model.key(next)
        if (seen.has(key)) continue
        seen.add(key)
        following.push({ state: next, from: node, name })
      }
      for (const fault of model.faults(node.state, walk.transitions === before)) record(walk, fault, node)
    }
    if (stopsAtFault && walk.violations.size > 0) return { ...walk, isComplete: false }
    level = following
  }
  return walk
}

function record<State>(walk: Walk, fault: string, node: Node<State>): void {
  const known = walk.violations.get(fault)
  if (known) known.count++
  else walk.violations.set(fault, { count: 1, path: pathTo(node) })
}

function pathTo<State>(node: Node<State>): string[] {
  const names: string[] = []
  for (let at: Node<State> | null = node; at?.from; at = at.from) names.unshift(at.name)
  return names
}

/** Several walks as one, as when each history of the chain is walked by itself. */
export function addUp(total: Walk, walk: Walk): void {
  total.states += walk.states
  total.transitions += walk.transitions
  total.isComplete &&= walk.isComplete
  for (const [fault, { count, path }] of walk.violations) {
    const known = total.violations.get(fault)
    if (!known) total.violations.set(fault, { count, path })
    else total.violations.set(fault, { count: known.count + count, path: path.length < known.path.length ? path : known.path })
  }
}

export const nothing = (): Walk => ({ states: 0, transitions: 0, isComplete: true, violations: new Map() })

/** A walk as a person reads it: its size, and each violation as a story. */
export function storyOf(scope: string, walk: Walk, seconds: number): string {
  const size = `${scope}: ${walk.states} states, ${walk.transitions} transitions in ${seconds.toFixed(1)} s of CPU${walk.isComplete ? ', complete' : ', NOT complete'}`
  const stories = [...walk.violations].map(([fault, { count, path }]) => {
    return `\n✗ ${fault} (${count} times). Shortest:\n${path.map((name, index) => `   ${index + 1}. ${name}`).join('\n')}`
  })
  return [size, ...(stories.length > 0 ? stories : ['nothing is violated'])].join('\n')
}

/** A rule's answer; null when it refuses. */
export function attempted<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Error && error.name === 'ApiError') return null
    throw error
  }
}
