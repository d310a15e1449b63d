import { expect } from 'chai';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Json } from '../../../../lib/common/json/json.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import type { RegistryOptions } from '../../../../lib/runs/registry-options.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import type { WrittenArtifact } from '../../../../lib/tools/files/artifacts.js';
import { deferred } from '../../../support/deferred.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';

/** Resolved in order by what waits for its turn. */
const gates = new Map<string, ReturnType<typeof deferred<void>>>();

const write = defineTool({
  name: 'write',
  description: 'writes files',
  inputs: {
    filename: { type: 'string', required: true, description: 'the name' },
    text: { type: 'string', default: 'x', description: 'the content' },
    times: { type: 'integer', default: 1, description: 'how many' },
    fails: { type: 'integer', default: 0, description: 'attempts that fail' },
    gate: { type: 'string', description: 'what it waits for' },
  },
  async run({ filename, text, times, fails, gate }, { artifacts, attempt }) {
    if (gate !== undefined) await gates.get(gate)?.promise;
    const written: WrittenArtifact[] = [];
    for (let count = 0; count < times; count++) {
      written.push(await artifacts.write({ name: filename, bytes: text, media_type: 'text/plain' }));
    }
    if (attempt <= fails) throw new Error('failed after writing');
    return written.length === 1 ? (written[0] ?? null) : written;
  },
});

const careless = defineTool({
  name: 'careless',
  description: 'catches what it may, and awaits nothing',
  inputs: { filename: { type: 'string', required: true, description: 'the name' } },
  async run({ filename }, { artifacts }) {
    await artifacts.write({ name: '../up', bytes: 'x', media_type: 'text/plain' }).catch(() => undefined);
    void artifacts.write({ name: filename, bytes: 'x', media_type: 'text/plain' });
    return 'done';
  },
});

const bytes = defineTool({
  name: 'bytes',
  description: 'returns bytes',
  inputs: {},
  run: () => ({ one: Buffer.from('1'), two: Buffer.from('22') }),
});

const TOOLS = [write, careless, bytes];
const LIST =
  '{id: l, tool: transform, inputs: {input: null, expression: \'[{"n": "a"}, {"n": "b"}, {"n": "c"}]\'}}';

const nameOf = (output: Json | undefined): string => (output as unknown as WrittenArtifact).name;

describe('Files that tools write (D63)', () => {
  const temporary = new TemporaryFolder();
  let folder = '';
  let folders = 0;

  beforeEach(() => {
    folder = join(temporary.path, `written-${++folders}`);
    gates.clear();
  });
  after(() => temporary.remove());

  const parse = (tasks: string): ReturnType<typeof parsePipeline> =>
    parsePipeline(`{id: spec, goal: g, tasks: [${tasks}]}`, { tools: TOOLS });

  const createRegistry = (options: RegistryOptions = {}): RunRegistry =>
    new RunRegistry({ artifactFolder: folder, ...options });

  async function run(tasks: string, registry = createRegistry()): Promise<RunRecord> {
    return registry.settled(await registry.submit({ pipeline: parse(tasks) }));
  }

  const namesOf = ({ artifacts }: RunRecord): string[] => artifacts.map(({ name }) => name);

  /** All files below the folder of the executor, without their folders. */
  const onDisk = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
          .toSorted()
      : [];

  it('are where the output says when the task has succeeded, and in the record of the run', async () => {
    const { result, artifacts, artifact_count } = await run(
      '{id: t, tool: write, inputs: {filename: greeting.txt, text: hello}}',
    );
    const { path, ...others } = result?.outputs?.['t'] as unknown as WrittenArtifact;
    expect(others).to.deep.equal({ name: 'greeting.txt', media_type: 'text/plain', size: 5 });
    expect(readFileSync(path, 'utf8')).to.equal('hello');
    expect(artifacts).to.deep.equal([
      { name: 'greeting.txt', task_id: 't', media_type: 'text/plain', size: 5 },
    ]);
    expect(artifact_count).to.equal(1);
    expect(onDisk()).to.deep.equal(['greeting.txt']);
  });

  it('are listed with the bytes that tools return (D24)', async () => {
    const { artifacts } = await run('{id: t, tool: bytes}');
    expect(artifacts).to.deep.equal(
      [1, 2].map((size) => ({
        name: `t-${size}.bin`,
        task_id: 't',
        media_type: 'application/octet-stream',
        size,
      })),
    );
  });

  it('of a failed attempt leave nothing, not even their name', async () => {
    const { result, artifacts } = await run(
      '{id: t, tool: write, retry: 1, inputs: {filename: r.txt, times: 2, fails: 1}}, {id: u, tool: mock, await: [t]}',
    );
    expect((result?.outputs?.['t'] as unknown as WrittenArtifact[]).map(({ name }) => name)).to.deep.equal([
      'r.txt',
      'r-2.txt',
    ]);
    expect(artifacts).to.have.length(2);
    const failed = await run('{id: t, tool: write, inputs: {filename: r.txt, fails: 9}}');
    expect(failed).to.deep.include({ status: 'failed', artifacts: [], artifact_count: 0 });
  });

  it('have the number of their item, whoever is first', async () => {
    const tasks = `${LIST}, {id: t, tool: write, parallel_over: "{{l.output}}", inputs: {filename: r.txt, gate: "{{item.n}}"}}`;
    for (const name of ['a', 'b', 'c']) gates.set(name, deferred());
    const settled = run(tasks);
    for (const name of ['c', 'b', 'a']) gates.get(name)?.resolve();
    const { result } = await settled;
    expect((result?.outputs?.['t'] as Json[]).map(nameOf)).to.deep.equal(['r.txt', 'r-2.txt', 'r-3.txt']);
  });

  it('have no number when the item gives them their name, or another ending', async () => {
    const record = await run(
      `${LIST}, {id: t, tool: write, parallel_over: "{{l.output}}", inputs: {filename: "{{item.n}}.txt"}},
       {id: u, tool: write, inputs: {filename: a.csv}, await: [t]}`,
    );
    expect(namesOf(record)).to.deep.equal(['a.csv', 'a.txt', 'b.txt', 'c.txt']);
  });

  it('have the number of their task in the wave, in declared order, and then the next free one', async () => {
    gates.set('slow', deferred());
    const settled = run(
      `{id: first, tool: write, inputs: {filename: r.txt, gate: slow}}, {id: second, tool: write, inputs: {filename: r.txt}},
       {id: third, tool: write, inputs: {filename: R.txt}, await: [first, second]}`,
    );
    setImmediate(() => gates.get('slow')?.resolve());
    const { outputs } = (await settled).result ?? {};
    expect(['first', 'second', 'third'].map((id) => nameOf(outputs?.[id]))).to.deep.equal([
      'r.txt',
      'r-2.txt',
      'R-3.txt',
    ]);
  });

  const REFUSED = {
    '../up': 'without folders',
    'a/b': 'without folders',
    'a\\b': 'without folders',
    '..': 'must not begin with a dot',
    '.env': 'must not begin with a dot',
    '': 'it is empty',
    'a\u0000b': 'control characters',
    'a\nb': 'control characters',
    'a:b': 'control characters or any of',
    NUL: 'Windows reserves it',
    'com1.txt': 'Windows reserves it',
    'end.': 'end with a dot',
    ['é'.repeat(101)]: 'it has 202 bytes, and 200 are allowed',
  };

  for (const [name, reason] of Object.entries(REFUSED)) {
    it(`cannot be called ${JSON.stringify(name.slice(0, 12))}`, async () => {
      const { error } = await run(`{id: t, tool: write, inputs: {filename: ${JSON.stringify(name)}}}`);
      expect(error).to.contain('a file cannot be called').and.contain(reason);
      expect(onDisk()).to.deep.equal([]);
    });
  }

  it('may be written without awaiting them, and a refusal fails the task unless it is caught', async () => {
    const { status, artifacts } = await run('{id: t, tool: careless, inputs: {filename: r.txt}}');
    expect([status, artifacts.map(({ name }) => name)]).to.deep.equal(['succeeded', ['r.txt']]);
    const failed = await run('{id: t, tool: careless, inputs: {filename: a/b}}');
    expect(failed.error).to.contain('a file cannot be called "a/b"');
  });

  it('count towards the memory of the run', async () => {
    const registry = createRegistry({ runOutputLimitBytes: 5000 });
    const big = 'y'.repeat(3000);
    const { error } = await run(
      `{id: t, tool: write, inputs: {filename: r.txt, times: 2, text: ${big}}}`,
      registry,
    );
    expect(error).to.contain('the run takes more memory');
    expect((await run(`{id: t, tool: write, inputs: {filename: r.txt, text: z}}`, registry)).status).to.equal(
      'succeeded',
    );
  });

  it('of a pipeline inside a task belong to that task, and go when it fails', async () => {
    const inner = `{id: i, goal: g, tasks: [{id: t, tool: write, inputs: {filename: r.txt}}, {id: f, tool: TOOL, await: [t]}]}`;
    const nested = (tool: string): string =>
      `{id: n, tool: run_pipeline, inputs: {pipeline: ${inner.replace('TOOL', tool)}}}`;
    const { artifacts } = await run(nested('mock'));
    expect(artifacts).to.deep.equal([{ name: 'r.txt', task_id: 'n', media_type: 'text/plain', size: 1 }]);
    const registry = createRegistry();
    const before = onDisk();
    const failed = await run(nested('fail'), registry);
    expect(failed).to.deep.include({ status: 'failed', artifacts: [] });
    await registry.close(0);
    expect(onDisk()).to.deep.equal(before);
  });

  it('are those of a rerun that reuses their task or item, and are gone with the last run (D35, D60)', async () => {
    const registry = createRegistry();
    const first = await run(
      `${LIST}, {id: t, tool: write, parallel_over: "{{l.output}}", inputs: {filename: r.txt, text: "{{item.n}}"}}, {id: u, tool: write, inputs: {filename: u.txt}, await: [t]}`,
      registry,
    );
    const rerun = await registry.settled(await registry.rerun(first.run_id, { from: 'u' }));
    expect(rerun.artifacts).to.deep.equal(first.artifacts);
    expect(rerun.artifacts.map(({ name, item }) => [name, item])).to.deep.equal([
      ['r-2.txt', 1],
      ['r-3.txt', 2],
      ['r.txt', 0],
      ['u.txt', undefined],
    ]);
    registry.forget(first.run_id);
    const { path } = registry.artifacts(rerun.run_id).find('r.txt') ?? { path: '' };
    expect(readFileSync(path, 'utf8')).to.equal('a');
    expect(existsSync(dirname(path))).to.equal(true);
  });

  it('go to the folder of the user when there is one, and replace what is there, not what a link names', async () => {
    const outputFolder = join(folder, 'outputs');
    const elsewhere = join(temporary.path, `elsewhere-${folders}`);
    mkdirSync(outputFolder, { recursive: true });
    writeFileSync(elsewhere, 'of somebody else');
    symlinkSync(elsewhere, join(outputFolder, 'r.txt'));
    const registry = createRegistry({ outputFolder, keepArtifacts: true });
    const tasks = '{id: t, tool: write, inputs: {filename: r.txt, text: mine}}';
    const { run_id: runId } = await run(tasks, registry);
    registry.forget(runId);
    await registry.close(0);
    expect(readFileSync(join(outputFolder, 'r.txt'), 'utf8')).to.equal('mine');
    expect(readFileSync(elsewhere, 'utf8')).to.equal('of somebody else');
    expect(readdirSync(outputFolder)).to.deep.equal(['r.txt']);
  });
});
