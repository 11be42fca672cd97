const { default: Sequencer } = require('@jest/test-sequencer')

/** Begun last, each of these kept one core busy for a minute while the others had nothing left. */
const LONGEST = ['spec/replay', 'simulation/simulation', 'simulation/plans/plans', 'siege/siege', 'fuzz/fuzz', 'tree/image']

/** Jest's order, but the longest files first. */
module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = test => {
      const place = LONGEST.findIndex(name => test.path.endsWith(`/tests/${name}.test.ts`))
      return place === -1 ? LONGEST.length : place
    }
    return super.sort(tests).sort((one, other) => rank(one) - rank(other))
  }
}
