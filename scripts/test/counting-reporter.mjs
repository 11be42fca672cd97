import { relative } from 'node:path'

const SLOWEST = 20

/** Leaves the counts where test.mjs finds them: it prints them last, after everything that Jest prints. Names the slowest files of a run of many. */
export default class CountingReporter {
  onRunComplete(_contexts, results) {
    globalThis.ponteTestCounts = {
      passed: results.numPassedTests,
      // A file that could not be run has no tests, and must count all the same.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      failedFiles: results.testResults.filter(({ failureMessage }) => failureMessage).map(({ testFilePath }) => testFilePath),
    }
    if (results.testResults.length > SLOWEST) console.log(slowest(results.testResults))
  }
}

function slowest(files) {
  const secondsOf = ({ perfStats }) => perfStats.runtime / 1_000
  const sum = of => of.reduce((total, file) => total + secondsOf(file), 0).toFixed(0)
  const first = files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, SLOWEST)
  const lines = first.map(file => `${secondsOf(file).toFixed(1).padStart(7)} s  ${relative(process.cwd(), file.testFilePath)}`)
  return ['', `The slowest ${SLOWEST} of ${files.length} files, ${sum(first)} of ${sum(files)} s in all workers:`, ...lines, ''].join('\n')
}
