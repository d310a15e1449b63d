/** Conformance suites for implementations of Wavetrain's contracts; run them from any test framework (law L7). */
export { type BlackboardSuiteOptions, blackboardSuite } from './testing/blackboard-suite.js';
export type { ConformanceCase } from './testing/conformance.js';
export { type ExecutorSuiteOptions, executorSuite } from './testing/executor-suite.js';
