/** Conformance suites for implementations of Wavetrain's contracts; run them from any test framework (law L7). */
export { type BlackboardSuiteOptions, blackboardSuite } from './blackboard-suite.js';
export type { ConformanceCase } from './conformance.js';
export { type ExecutorSuiteOptions, executorSuite } from './executor-suite.js';
export type { CaseProblem, CaseReport } from './pipelines/definition-tests.js';
export type { TestCoverage } from './pipelines/coverage.js';
export {
  pipelineSuite,
  testPipelines,
  type TestFileReport,
  type TestPipelinesOptions,
  type TestReport,
} from './pipelines/test-pipelines.js';
