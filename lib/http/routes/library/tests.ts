import { ToolError, WavetrainError } from '../../../common/errors.js';
import { ConcurrencyLimiter } from '../../../common/scheduling/concurrency-limiter.js';
import { TestResultSchema } from '../../../common/wire/report.js';
import { PIPELINE_TEST_LIMITS } from '../../../definition/schema/fields.js';
import { MAX_YAML_LENGTH } from '../../../common/limits.js';
import type { FolderEntry } from '../../../library/folder-entries.js';
import type { PipelineLibrary } from '../../../library/library.js';
import { fileProblem } from '../../../library/read-definition.js';
import type { TestSetup } from '../../../testing/pipelines/definition-tests.js';
import { runRequestedTests, type TestResult } from '../../../testing/pipelines/test-request.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { TestRequestSchema } from '../../schemas/library.js';
import type { HttpServices } from '../../services.js';
import { findTenant, NAMED_PATH, requireLibrary } from './named-path.js';

/** Requests that run tests at once; every tenant has its share. */
const AT_ONCE = 2;

/** Memory that a text takes for each of its bytes while it is checked, as that of a definition. */
const TEXT_FACTOR = 3;

/** `POST /pipelines/{id}/test` (D91). */
export function testRoute(services: HttpServices): Route {
  const limiter = new ConcurrencyLimiter(services.shareOf(AT_ONCE));
  return defineRoute({
    ...NAMED_PATH,
    path: `${NAMED_PATH.path}/test`,
    method: 'POST',
    id: 'testPipeline',
    tag: 'Library',
    summary: 'Run the tests of a pipeline or a plan',
    description: `Those of the file beside it, \`NAME.test.yaml\`, or those of \`tests\`; of the definition in the file, or of the one in \`text\`. Tools that only compute run, all others answer what the tests say: nothing is sent, no file and no secret is read, and nothing is kept. At most ${PIPELINE_TEST_LIMITS.serverCases} cases, in ${PIPELINE_TEST_LIMITS.serverMs / 1000} s. The response to tests that fail, or are not valid, has status 200 and \`ok: false\`.`,
    access: 'edit',
    body: { schema: TestRequestSchema, required: false, examples: { saved: {} } },
    responses: { 200: { description: 'The results.', schema: TestResultSchema } },
    errors: ['pipeline_not_found', 'body_too_large', 'memory_full', 'shutting_down'],
    handle: async (request) => {
      const { params, body, caller } = request;
      const { library } = requireLibrary(services, params.id);
      const { text, tests, tenant_id } = body ?? {};
      const tenantId = findTenant(caller, tenant_id ?? undefined, params.id);
      assertShort([text, tests]);
      const entry = await library.entry(tenantId, params.id);
      const asked: AskedTests = { entry, tenantId, text: text ?? undefined, tests: tests ?? undefined };
      const signal = request.disconnected();
      request.endTurn();
      const result = await services.work.run(signal, (stopping) => {
        const waiting = { tenant_id: tenantId, signal: stopping, pauseTimeout: () => () => {} };
        return limiter.run(waiting, () =>
          withMemoryOf(services, tenantId, (hold) => runTests(asked, services, library, hold, stopping)),
        );
      });
      return { body: result };
    },
  });
}

/** @throws WavetrainError `body_too_large` */
function assertShort(texts: readonly (string | null | undefined)[]): void {
  if (texts.every((text) => (text ?? '').length <= MAX_YAML_LENGTH)) return;
  throw new WavetrainError('body_too_large', `the limit for YAML is ${MAX_YAML_LENGTH / 1024} KiB`);
}

interface AskedTests {
  readonly entry: FolderEntry;
  readonly tenantId: string;
  /** Undefined: those of the folder. */
  readonly text: string | undefined;
  readonly tests: string | undefined;
}

async function runTests(
  { entry, tenantId, text: sent, tests: sentTests }: AskedTests,
  { checker, memory, registry }: HttpServices,
  library: PipelineLibrary,
  hold: (bytes: number) => void,
  signal: AbortSignal,
): Promise<TestResult> {
  const text = sent ?? (await library.read(entry, hold)).text;
  hold(TEXT_FACTOR * Buffer.byteLength(text));
  const tests =
    sentTests === undefined ? await library.readTests(entry, hold) : { file: null, text: sentTests };
  if (tests === undefined) return withoutTests(entry.listed.file);
  hold(TEXT_FACTOR * Buffer.byteLength(tests.text));
  const sources = { text: tests.text, definition: await library.sourcesOf(entry, text) };
  const check: TestSetup['check'] = (steps) => registry.stepRunner.check(steps, tenantId);
  const setup = { catalog: checker.catalog, files: NO_FILES, tenantId, memory, check };
  return { file: tests.file, ...(await runRequestedTests(sources, setup, signal)) };
}

/** A test on a server must answer tasks that read files, too. */
const NO_FILES = {
  read: () => Promise.reject(ToolError.nonRetryable('tests on a server read no files: answer the task')),
};

function withoutTests(file: string): TestResult {
  const name = file.replace(/\.\w+$/, '.test.yaml');
  const problems = [fileProblem('unreadable_file', `there are no tests beside it: write them into ${name}`)];
  return { file: null, ok: false, problems, in_definition: false, cases: [], left_out: 0, coverage: null };
}

/** Holds memory of a tenant until the tests have ended. */
async function withMemoryOf<T>(
  { memory }: HttpServices,
  tenantId: string,
  work: (hold: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  let held = 0;
  try {
    return await work((bytes) => {
      memory.reserve(tenantId, bytes, 'response');
      held += bytes;
    });
  } finally {
    memory.release(tenantId, held);
  }
}
