/** Lazy boundary: runs the tests of pipelines. Imported by their command alone, because it loads all that runs them. */
export { findTestFiles } from '../../testing/pipelines/find-tests.js';
export { readTestText, runTestFiles } from '../../testing/pipelines/test-pipelines.js';
export { updateExpectations } from '../../testing/pipelines/update-expectations.js';
