import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { readModelConfig } from '../../lib/common/config/model-config.js';
import { createModels } from '../../lib/models/create-models.js';
import { loadPipeline } from '../../lib/pipelines/load.js';
import { loadPlan } from '../../lib/plans/load.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import type { RunRecord } from '../../lib/runs/record.js';
import { testPipelines } from '../../lib/testing/index.js';
import { isTestFile } from '../../lib/common/files.js';
import { fileAccess } from '../../lib/tools/files/file-access.js';
import { defineTool } from '../../lib/tools/tool.js';
import { loadTools } from '../../lib/tools/loading/load-tools.js';
import { commandIn, type Example, type Expectation, examples } from './docs/examples.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { documents, filesBelow, read, requireBuild, ROOT } from './files.js';
import { eachOf, type Finished, Shell } from './docs/shell.js';

const ALERT = 'examples/06-retry-and-timeout/alert.yaml';
const PLAN = 'examples/10-plan/plan.yaml';
const CLOSING = 'examples/10-plan/closing.yaml';

/** Programs that use the library, each with the file of its expected output. */
const PROGRAMS = [
  ['examples/09-library/embed.ts', 'examples/09-library/embed.expected.txt'],
  ['examples/11-own-blackboard/main.ts', 'examples/11-own-blackboard/main.expected.txt'],
  ['examples/12-http-api/main.ts', 'examples/12-http-api/main.expected.txt'],
  ['examples/12-http-api/research/main.ts', 'examples/12-http-api/research/main.expected.txt'],
] as const;

/** Definitions that a program, a plan or a spec of their own runs. */
const PARTS = [
  'examples/09-library/pipeline.yaml',
  CLOSING,
  'examples/10-plan/comparison.yaml',
  'examples/10-plan/figures.yaml',
  'examples/10-plan/ingest.yaml',
  'examples/11-own-blackboard/plan.yaml',
  ALERT,
  'examples/12-http-api/pipeline.yaml',
  'examples/12-http-api/research/pipeline.yaml',
];

describe('The examples', () => {
  const all = examples();

  it('have an expected result for each pipeline and plan that nothing else runs', () => {
    const paths = all.map(({ path }) => path);
    const definitions = filesBelow('examples', '.yaml').filter((path) => !isTestFile(path));
    expect([...paths, ...PARTS].sort()).to.deep.equal(definitions);
  });

  describe('have tests beside each pipeline and plan, which reach every task and branch (D91)', () => {
    const definitions = filesBelow('examples', '.yaml').filter((path) => !isTestFile(path));
    const tools = ['07-own-tool', '13-credit'].map((folder) => join(ROOT, 'examples', folder));

    for (const path of definitions) {
      it(path, async () => {
        const entry = join(ROOT, 'lib/index.ts');
        const loaded = await Promise.all(tools.map((folder) => loadTools('./tools.ts', folder, { entry })));
        // The host of 09-library has it.
        const shout = defineTool({
          name: 'shout',
          description: 'Shouts',
          inputs: { text: { type: 'string', required: true, description: 'what' } },
          run: ({ text }) => text.toUpperCase(),
        });
        const report = await testPipelines(join(ROOT, path), { tools: [...loaded.flat(), shout] });
        const [file] = report.files;
        expect(file?.problems).to.deep.equal([]);
        expect(file?.cases.flatMap(({ problems }) => problems)).to.deep.equal([]);
        expect([file?.coverage?.tasks.never, file?.coverage?.branches.never]).to.deep.equal([[], []]);
      });
    }
  });

  it('appear in the table of examples/README.md, each with its folder', () => {
    const table = read('examples/README.md');
    const paths = [...all.map(({ path }) => path), ...PARTS];
    const folders = new Set(paths.map((path) => path.split('/')[1] ?? ''));
    expect([...folders].filter((folder) => !table.includes(`](${folder}/`))).to.deep.equal([]);
    expect(documents()).to.include('examples/README.md');
  });

  describe('produce the expected result in this process', () => {
    for (const example of all) {
      it(example.path, async () => {
        const { status, result, failures, handlers, handler_failures } = await run(example);
        const { given: _, ...expected } = example.expectation;
        const end = { status, result, failures, handlers, handler_failures };
        expect(withoutPaths(end)).to.deep.equal(expected);
      });
    }
  });

  describe('produce the expected result through the built command, as their first comment calls it', () => {
    const finished = new Map<string, Finished>();

    before(async () => {
      requireBuild();
      await eachOf(all, async ({ path, command }) => {
        const shell = new Shell();
        finished.set(
          path,
          await shell.run(`${command} --json`.replace('--json --json', '--json'), { errors: false }),
        );
        shell.remove();
      });
    });

    for (const { path, expectation } of all) {
      it(path, () => {
        const { status, output } = finished.get(path) ?? { status: null, output: '' };
        expect(status).to.equal(expectation.result === null ? 3 : 0);
        if (expectation.result !== null)
          expect(withoutPaths(JSON.parse(output))).to.deep.equal(printed(expectation));
        else {
          const { status: runStatus, failures } = expectation;
          const printedRun = JSON.parse(output) as { status: string; failures: object[] };
          expect(printedRun.status).to.equal(runStatus);
          expect(printedRun.failures.map(withoutInputs)).to.deep.equal(failures);
        }
      });
    }
  });

  it('contain a plan whose handlers are valid (D80)', async () => {
    const { handlers, warnings } = await loadPlan(join(ROOT, CLOSING));
    expect(handlers?.allWaves).to.deep.equal([['fastest'], ['alert'], ['note']]);
    expect(warnings).to.deep.equal([]);
  });

  it('make the PDF that one of them reads', () => {
    const folder = new TemporaryFolder();
    try {
      const script = folder.write('make.mjs', read('examples/08-csv-report/make-price-list.mjs'));
      execFileSync(process.execPath, [script]);
      const made = readFileSync(join(folder.path, 'price-list.pdf'));
      expect(made.equals(readFileSync(join(ROOT, 'examples/08-csv-report/price-list.pdf')))).to.equal(true);
    } finally {
      folder.remove();
    }
  });

  it('produce the same result for the plan over HTTP as in the shell (D35)', async () => {
    requireBuild();
    const expectation = all.find(({ path }) => path === PLAN)?.expectation;
    const shell = new Shell();
    await shell.serve('SERVICE_FILE_ROOTS=examples/10-plan npx wavetrain serve');
    shell.folder.write('request.json', JSON.stringify(planRequest()));
    const { output } = await shell.run(
      `curl -s http://127.0.0.1:8000/plans/run -H 'Content-Type: application/json' --data-binary @request.json`,
    );
    shell.remove();
    expect(JSON.parse(output)).to.deep.equal(expectation && printed(expectation));
  });

  it('post to a chat why a run has failed', async () => {
    requireBuild();
    const posted: string[] = [];
    const chat = createServer((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => posted.push(`${request.method} ${text}`));
      request.on('end', () => response.end('ok'));
    });
    await once(chat.listen(0, '127.0.0.1'), 'listening');
    const address = chat.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const shell = new Shell();
    const command = commandIn(ALERT).replace('https://chat.example', `http://127.0.0.1:${port}`);
    const { status } = await shell.run(`SERVICE_ALLOW_PRIVATE_NETWORK=true ${command} --quiet`);
    shell.remove();
    chat.close();
    expect(status).to.equal(3);
    expect(posted).to.deep.equal(['POST {"text":"failed in load: the disk is full"}']);
  });

  for (const [program, printed] of PROGRAMS) {
    it(`${program} prints the committed output when called as its first comment says`, async () => {
      requireBuild();
      const shell = new Shell();
      const { output } = await shell.run(commandIn(program), { errors: false });
      shell.remove();
      expect(output).to.equal(read(printed));
    });
  }
});

/** Converts a result to the output of `--json`: the outputs of a pipeline, the result of a plan (D41, D47). */
function printed({ result }: Expectation): unknown {
  return result?.outputs ?? { ...result, events: null };
}

/** Leaves out where files were written, which differs by run. */
function withoutPaths(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => {
      if (typeof part !== 'object' || part === null || !('media_type' in part)) return part;
      const { path: __, ...others } = part as { readonly path?: unknown };
      return others;
    }),
  );
}

/** The command adds the inputs of what failed, which the record does not repeat (D59). */
function withoutInputs(failure: object): object {
  const { inputs: _, ...others } = failure as { inputs?: unknown };
  return others;
}

/** Builds one body of the plan and its pipelines, because a server reads no pipeline of a plan from a file (D33). */
function planRequest(): object {
  const names = ['comparison', 'figures', 'ingest'];
  const texts = names.map((name) => [name, read(`examples/10-plan/${name}.yaml`)]);
  return { yaml: read(PLAN), pipelines: Object.fromEntries(texts) };
}

async function run({ path, kind, folder, expectation: { given } }: Example): Promise<RunRecord> {
  const { tools: files = [], pools = {}, ...rest } = given;
  const entry = join(ROOT, 'lib/index.ts');
  const tools = await Promise.all(files.map((file) => loadTools(`./${file}`, folder, { entry })));
  const known = {
    tools: tools.flat(),
    ...(rest.inputs && { inputs: rest.inputs }),
    ...(rest.session && { session: rest.session }),
  };
  const file = join(ROOT, path);
  const models = createModels(readModelConfig({}), { folders: [folder] });
  const registry = new RunRegistry({
    files: fileAccess([folder]),
    models,
    pools: new Map(Object.entries(pools)),
  });
  const runId =
    kind === 'plan'
      ? await registry.submitPlan({ plan: await loadPlan(file, known), ...rest })
      : await registry.submit({ pipeline: await loadPipeline(file, known), ...rest });
  const record = await registry.settled(runId);
  await registry.close(0);
  return record;
}
