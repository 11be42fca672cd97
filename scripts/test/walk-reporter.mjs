/** Prints what all walks of `npm run explore` come to, and how long they took: each of its workers knows its own alone. */
export default class WalkReporter {
  #walks = []

  onTestResult(_test, { console: lines }) {
    for (const { message } of lines ?? []) {
      const [, states, transitions, seconds] = /: (\d+) states, (\d+) transitions in ([\d.]+) s of CPU/.exec(message) ?? []
      if (states && !message.startsWith('put back:')) this.#walks.push([states, transitions, seconds].map(Number))
    }
  }

  onRunComplete(_contexts, { startTime }) {
    const sum = index => this.#walks.reduce((total, walk) => total + walk[index], 0)
    const numbers = [0, 1].map(index => sum(index).toLocaleString('en'))
    const wall = ((Date.now() - startTime) / 1_000).toFixed(0)
    console.log(
      `${this.#walks.length} scopes: ${numbers[0]} states, ${numbers[1]} transitions in ${sum(2).toFixed(0)} s of CPU; ${wall} s with faults put back`,
    )
  }
}
