import { testPipelines, type TestFileReport, type TestReport } from '../../lib/testing/index.js';
import type { CatalogEntry } from '../../lib/tools/tool.js';
import { useTemporaryFolder } from '../support/temporary-folder.js';

/** The sentences of a case that has failed; empty when it has passed. */
type Failures = readonly string[];

/** A folder with definitions and their tests, for each spec of a suite. */
export function useTestFolder() {
  const folder = useTemporaryFolder();
  const run = (tools: readonly CatalogEntry[] = []): Promise<TestReport> =>
    testPipelines(folder.path, { tools });
  return {
    folder,
    run,
    /** Runs the cases of one file, and returns what each has failed of. @throws for a file that is not valid */
    failuresOf: async (
      definition: string,
      cases: string,
      tools: readonly CatalogEntry[] = [],
    ): Promise<readonly Failures[]> => {
      folder.write('p.yaml', definition);
      folder.write('p.test.yaml', cases);
      const { files } = await run(tools);
      const [file] = files;
      const [problem] = file?.problems ?? [];
      if (problem !== undefined) throw new Error(`${problem.line}: ${problem.message} (${problem.hint})`);
      return (file?.cases ?? []).map(({ problems }) =>
        problems.map(({ line, message }) => `${line}: ${message}`),
      );
    },
    /** Returns the problems of a file of tests, with their lines and hints. */
    problemsOf: async (definition: string, cases: string): Promise<readonly string[]> => {
      folder.write('p.yaml', definition);
      folder.write('p.test.yaml', cases);
      return showProblems((await run()).files[0]);
    },
  };
}

function showProblems(file: TestFileReport | undefined): readonly string[] {
  return (file?.problems ?? []).map(
    ({ line, message, hint }) => `${line}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  );
}
