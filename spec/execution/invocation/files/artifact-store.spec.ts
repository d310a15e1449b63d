import { expect } from 'chai';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Json } from '../../../../lib/common/json/json.js';
import { ArtifactStore } from '../../../../lib/execution/invocation/files/artifact-store.js';
import { LocalExecutor } from '../../../../lib/execution/local-executor.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import type { RegistryOptions } from '../../../../lib/runs/registry-options.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { settle, settleUntil } from '../../../support/deferred.js';
import { subPipelineText } from '../../../support/definitions/parse-plan.js';
import { ManualClock } from '../../../support/manual-clock.js';
import { startPlan } from '../../../support/runs/start-plan.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { takeWarnings } from '../../../support/warnings.js';

const bytes = defineTool({
  name: 'bytes',
  description: 'returns bytes',
  inputs: {
    text: { description: 'the text' },
    size: { type: 'integer', default: 1, description: 'of them' },
  },
  run: ({ text, size }) => Buffer.from(JSON.stringify(text ?? 'x').repeat(size)),
});

const TOOLS = [bytes];
const ONE = '{id: t, tool: bytes, inputs: {text: hello}}';

const pathOf = (output: Json | undefined): string => (output as { path: string }).path;

describe('Files for bytes that tools return (D24)', () => {
  const temporary = new TemporaryFolder();
  let folder = '';
  let folders = 0;

  beforeEach(() => {
    folder = join(temporary.path, `artifacts-${++folders}`);
  });
  after(() => temporary.remove());

  const parse = (tasks: string): ReturnType<typeof parsePipeline> =>
    parsePipeline(`{id: spec, goal: g, tasks: [${tasks}]}`, { tools: TOOLS });

  const createRegistry = (options: RegistryOptions = {}): RunRegistry =>
    new RunRegistry({ artifactFolder: folder, ...options });

  async function run(registry: RunRegistry, tasks = ONE): Promise<{ runId: string; path: string }> {
    const runId = await registry.submit({ pipeline: parse(tasks) });
    const { result, error } = await registry.settled(runId);
    if (result === null) throw new Error(error ?? 'no result');
    return { runId, path: pathOf(result.outputs?.['t']) };
  }

  it('are readable by nobody else, in a folder with a name of its own for each executor', async () => {
    const { path } = await run(createRegistry());
    expect(readFileSync(path, 'utf8')).to.equal('"hello"');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    for (const above of [dirname(path), dirname(dirname(path))])
      expect(statSync(above).mode & 0o777, above).to.equal(0o700);
    const { path: other } = await run(createRegistry());
    expect(dirname(dirname(other))).not.to.equal(dirname(dirname(path)));
    expect(basename(dirname(dirname(other)))).to.match(/^wavetrain-[0-9a-f-]{36}$/);
  });

  it('take no folder as long as no tool returns bytes', async () => {
    const registry = createRegistry();
    await registry.settled(await registry.submit({ pipeline: parse('{id: t, tool: mock}') }));
    await registry.close(0);
    expect(existsSync(folder)).to.equal(false);
  });

  it('never share a path, in fan-outs, nested runs and the sub-pipelines of a plan', async () => {
    const nested = `{id: n, tool: run_pipeline, inputs: {pipeline: {id: i, goal: g, tasks: [${ONE}]}}}`;
    const list = `{id: l, tool: transform, inputs: {input: null, expression: "[1,2]"}}, {id: f, tool: bytes, parallel_over: "{{l.output}}", inputs: {text: "{{item}}"}}`;
    const registry = createRegistry();
    const { path } = await run(registry, `${ONE}, ${nested}, ${list}`);
    expect(readdirSync(dirname(path)).toSorted()).to.have.length(4);
    const plan = await startPlan(
      ['a', 'b'].map((id) => subPipelineText(id, `{id: t, tool: bytes, inputs: {text: of ${id}}}`)),
      { tools: TOOLS, plan_concurrency: 2, executor: { artifactFolder: folder } },
    );
    while (!plan.run.isSettled) await settle();
    const { sub_results } = plan.record().result ?? {};
    const paths = ['a', 'b'].map((id) => pathOf(sub_results?.[id]?.outputs['t']));
    expect(paths.map((file) => readFileSync(file, 'utf8'))).to.deep.equal(['"of a"', '"of b"']);
    expect(new Set(paths.map((file) => basename(dirname(file))))).to.deep.equal(new Set([plan.run.id]));
  });

  it('are removed with their run, when it is deleted, forgotten or evicted (D26)', async () => {
    const registry = createRegistry({ retention: { maxRuns: 1, ttlMs: Number.POSITIVE_INFINITY } });
    const first = await run(registry);
    const second = await run(registry);
    await settleUntil(() => !existsSync(dirname(first.path)));
    expect(existsSync(second.path)).to.equal(true);
    registry.remove(second.runId);
    await settleUntil(() => !existsSync(dirname(second.path)));
    const third = await run(registry);
    registry.forget(third.runId);
    await settleUntil(() => !existsSync(dirname(third.path)));
  });

  it('are removed when the registry or the executor closes, with their folder', async () => {
    const registry = createRegistry();
    await run(registry);
    await registry.close(0);
    expect(readdirSync(folder)).to.deep.equal([]);
    const executor = new LocalExecutor({ artifactFolder: folder });
    await executor.getResult(await executor.submit({ pipeline: parse(ONE) }));
    expect(readdirSync(folder)).to.have.length(1);
    await executor.close();
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('stay with `keepArtifacts`, as the command line needs it', async () => {
    const registry = createRegistry({ keepArtifacts: true });
    const { runId, path } = await run(registry);
    registry.forget(runId);
    await registry.close(0);
    await settle();
    expect(readFileSync(path, 'utf8')).to.equal('"hello"');
  });

  it('stay until the last rerun that reuses them is forgotten (D35)', async () => {
    const registry = createRegistry();
    const first = await run(registry, `${ONE}, {id: u, tool: mock, await: [t]}`);
    const rerunId = await registry.rerun(first.runId, { from: 'u' });
    const { result } = await registry.settled(rerunId);
    expect(pathOf(result?.outputs?.['t'])).to.equal(first.path);
    registry.forget(first.runId);
    const other = await run(registry);
    registry.forget(other.runId);
    await settleUntil(() => !existsSync(other.path));
    expect(readFileSync(first.path, 'utf8')).to.equal('"hello"');
    registry.forget(rerunId);
    await settleUntil(() => !existsSync(first.path));
  });

  it('count towards the memory of the run, so that no run fills the disk', async () => {
    const registry = createRegistry({ runOutputLimitBytes: 100_000 });
    const { runId, path } = await run(registry, '{id: t, tool: bytes, inputs: {size: 10000}}');
    expect(statSync(path).size).to.equal(30_000);
    registry.forget(runId);
    const failedId = await registry.submit({
      pipeline: parse(
        '{id: t, tool: bytes, inputs: {size: 20000}}, {id: u, tool: bytes, inputs: {size: 20000}}',
      ),
    });
    const { status, error } = await registry.settled(failedId);
    expect(status).to.equal('failed');
    const [own = ''] = readdirSync(folder);
    const sizes = readdirSync(join(folder, own, failedId)).map(
      (name) => statSync(join(folder, own, failedId, name)).size,
    );
    expect(sizes).to.deep.equal([60_000]);
    expect(error).to.contain('return less, or files');
  });

  it('fail the task when something else is in their place, and follow no link (D24)', async () => {
    const registry = createRegistry();
    const { path } = await run(registry);
    const own = dirname(dirname(path));
    const elsewhere = join(temporary.path, `elsewhere-${folders}`);
    mkdirSync(elsewhere);
    for (const replace of [
      () => symlinkSync(elsewhere, own),
      () => {
        mkdirSync(own);
        chmodSync(own, 0o777);
      },
    ]) {
      rmSync(own, { recursive: true, force: true });
      replace();
      const runId = await registry.submit({ pipeline: parse(ONE) });
      const { error } = await registry.settled(runId);
      expect(error).to.match(
        /^.*wavetrain-.* is not a folder of this process: remove it, or set another SERVICE_ARTIFACTS$/,
      );
      expect(readdirSync(elsewhere)).to.deep.equal([]);
    }
  });

  it('are written anew after a cleaner of temporary files has removed the folder', async () => {
    const registry = createRegistry();
    const { path } = await run(registry);
    rmSync(dirname(dirname(path)), { recursive: true });
    const { path: next } = await run(registry);
    expect(readFileSync(next, 'utf8')).to.equal('"hello"');
  });

  it('that cannot be removed are reported once, and fail nothing', async () => {
    const store = new ArtifactStore(join(folder, 'store'), false);
    for (let times = 0; times < 3; times++) await store.remove('a path with a \0');
    const warnings = await takeWarnings();
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(/^files of a run could not be removed: /);
  });

  it('are removed when their attempt has ended before they were written', async () => {
    const clock = new ManualClock();
    const executor = new LocalExecutor({ artifactFolder: folder, clock });
    const runId = await executor.submit({ pipeline: parse(ONE.replace('}}', '}, timeout: 1}')) });
    const run = executor.getRun(runId);
    await waitForMicrotasks();
    clock.advance(1000);
    await run.settled;
    expect(run.failures.map(({ error }) => error)).to.deep.equal(['timed out after 1 s']);
    const isEmpty = (): boolean => {
      const [own] = existsSync(folder) ? readdirSync(folder) : [];
      return (
        own !== undefined && existsSync(join(folder, own, runId)) && files(join(folder, own, runId)) === 0
      );
    };
    await settleUntil(isEmpty);
    await executor.close();
    expect(readdirSync(folder)).to.deep.equal([]);
  });
});

const files = (path: string): number => readdirSync(path).length;

/** Lets a tool return, and its files be asked for, before the file system can answer. */
async function waitForMicrotasks(): Promise<void> {
  for (let count = 0; count < 10; count++) await Promise.resolve();
}
