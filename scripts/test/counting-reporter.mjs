/** Leaves the counts where test.mjs finds them: it prints them last, after everything that Jest prints. */
export default class CountingReporter {
  onRunComplete(_contexts, results) {
    globalThis.ponteTestCounts = {
      passed: results.numPassedTests,
      // A file that could not be run has no tests, and must count all the same.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
      failedFiles: results.testResults.filter(({ failureMessage }) => failureMessage).map(({ testFilePath }) => testFilePath),
    }
  }
}
