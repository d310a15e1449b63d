import { expect } from 'chai';
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WavetrainClient } from '../../lib/client/index.js';
import { Collector } from '../telemetry/collector.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { fencesOf } from './docs/markdown.js';

const execute = promisify(execFile);
const project = process.cwd();

/** The address that a server logs first. */
async function readUrl({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  const [output] = (await once(stdout, 'data')) as [Buffer];
  const [line = ''] = output.toString('utf8').split('\n');
  return (JSON.parse(line) as { url: string }).url;
}

/** Packs the project as for publishing and installs it as the README says, once for all specs. */
describe('The published package', () => {
  let folder: TemporaryFolder;
  /** Where the README installs the package. */
  let cwd: string;
  let version: string;
  let printed: string;
  let complaints: string;

  const fences = fencesOf('README.md');
  const [commands, program] = fences.filter(({ info }) => info['package'] !== undefined);

  before(async () => {
    folder = new TemporaryFolder();
    await mkdir(folder.at('wavetrain'));
    cwd = folder.at('own');
    await mkdir(cwd);
    await execute('npm', ['pack', '--ignore-scripts', '--pack-destination', folder.at('wavetrain')], {
      cwd: project,
    });
    ({ version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8')) as { version: string });
    const env = {
      ...process.env,
      npm_config_prefer_offline: 'true',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
    };
    const installing = execute('sh', ['-ec', commands?.text ?? ''], { cwd, env });
    ({ stdout: printed, stderr: complaints } = await installing);
  });

  after(() => folder.remove());

  it('installs without a warning and without OpenTelemetry', () => {
    // Npm also complains of what the configuration of this machine contains.
    const ofPackage = complaints.split('\n').filter((line) => line !== '' && !/Unknown .*config/.test(line));
    expect(ofPackage).to.deep.equal([]);
    // The metrics need the API of OpenTelemetry, which is small.
    expect(readdirSync(join(cwd, 'node_modules', '@opentelemetry'))).to.deep.equal(['api']);
  });

  it('explains how to install OpenTelemetry when traces are asked for, and sends them once it is installed', async () => {
    const collector = await Collector.open(200);
    const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const serve = ['serve', '--port', '0'];
    const refused = await execute('node_modules/.bin/wavetrain', serve, { cwd, env }).catch(
      (error: { readonly code: number; readonly stderr: string }) => error,
    );
    expect(refused).to.include({ code: 2 });
    const { peerDependencies }: { peerDependencies: object } = JSON.parse(
      await readFile(join(project, 'package.json'), 'utf8'),
    );
    const names = Object.keys(peerDependencies).filter((name) => name.startsWith('@opentelemetry/'));
    expect(refused.stderr).to.include(`npm install ${names.join(' ')}`);
    // As that command does, but without a registry.
    const links = names
      .map((name) => join('node_modules', name))
      .filter((path) => !existsSync(join(cwd, path)));
    for (const path of links) await symlink(join(project, path), join(cwd, path));
    const server = spawn('node_modules/.bin/wavetrain', serve, { cwd, env });
    const url = await readUrl(server);
    await new WavetrainClient({ url }).run('{id: p, goal: g, tasks: [{id: a, tool: mock}]}');
    server.kill('SIGTERM');
    await once(server, 'exit');
    expect(collector.spans.length).to.be.above(0);
    await collector.close();
    for (const path of links) await unlink(join(cwd, path));
  });

  it('installs a command that runs a pipeline', async () => {
    await writeFile(
      join(cwd, 'p.yaml'),
      'pipeline: {id: p, goal: g, tasks: [{id: a, tool: mock, inputs: {x: 1}}]}',
    );
    const { stdout } = await execute('npx', ['wavetrain', 'run', 'p.yaml', '--json'], { cwd });
    expect(JSON.parse(stdout)).to.deep.include({
      a: { status: 'success', message: 'Mock tool executed', inputs: { x: 1 }, call_count: 1 },
    });
  });

  it('contains the statecharts of all actors, for a server without elkjs', async () => {
    const file = join(cwd, 'node_modules', 'wavetrain', 'dist', 'statecharts.json');
    const charts: { id: string; nodes: unknown[] }[] = JSON.parse(await readFile(file, 'utf8'));
    expect(charts.map(({ id }) => id)).to.include.members(['plan', 'run', 'wave', 'task', 'item']);
    expect(charts.filter(({ nodes }) => nodes.length < 3)).to.deep.equal([]);
    expect(existsSync(join(cwd, 'node_modules', 'elkjs'))).to.equal(false);
  });

  it('runs its examples, including those with data files and own tools', async () => {
    const examples = join(cwd, 'node_modules', 'wavetrain', 'examples');
    await mkdir(join(cwd, 'mine'));
    await cp(examples, join(cwd, 'mine'), { recursive: true });
    const report = ['wavetrain', 'run', 'mine/08-csv-report/pipeline.yaml', '--json'];
    expect((await execute('npx', report, { cwd })).stdout).to.include('report');
    const own = [
      'wavetrain',
      'run',
      'mine/07-own-tool/pipeline.yaml',
      '--tools',
      './mine/07-own-tool/tools.ts',
      '--json',
    ];
    expect((await execute('npx', own, { cwd })).stdout).to.include('voyage');
  });

  it('serves the API and its documentation, and evaluates expressions in child processes', async () => {
    const server = spawn('node_modules/.bin/wavetrain', ['serve', '--port', '0'], { cwd });
    const url = await readUrl(server);
    const page = await fetch(`${url}/docs`);
    expect(page.status).to.equal(200);
    const [asset = ''] = /\/docs-assets\/[^"']*bundle\.js/.exec(await page.text()) ?? [];
    expect((await fetch(url + asset)).status).to.equal(200);
    const program = `import { WavetrainClient } from 'wavetrain/client';
const { run_id } = await new WavetrainClient({ url: '${url}' }).submit('{id: p, goal: g, tasks: [{id: a, tool: mock}]}');
for await (const { kind } of new WavetrainClient({ url: '${url}' }).events(run_id)) console.log(kind);`;
    await writeFile(join(cwd, 'follow.mjs'), program);
    const { stdout } = await execute(process.execPath, ['follow.mjs'], { cwd });
    expect(stdout.split('\n')).to.include.members(['run', 'wave', 'start', 'finish']);
    const tasks = [{ id: 'a', tool: 'transform', inputs: { input: 20, expression: '$ + 1' } }];
    const answer = await fetch(`${url}/pipelines/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pipeline: { id: 'p', goal: 'g', tasks } }),
    });
    expect(await answer.json()).to.deep.include({ outputs: { a: 21 } });
    server.kill('SIGTERM');
    const [status] = (await once(server, 'exit')) as [number];
    expect(status).to.equal(0);
  });

  it('works as a library with types', async () => {
    const source = `import { defineTool, LocalExecutor, parsePipeline } from 'wavetrain';
const twice = defineTool({
  name: 'twice', description: 'doubles', inputs: { n: { type: 'number', description: 'what', required: true } },
  run: ({ n }) => n * 2,
});
const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: twice, inputs: {n: 21}}]}', { tools: [twice] });
const executor = new LocalExecutor();
const { outputs } = await executor.getResult(await executor.submit({ pipeline }));
console.log(JSON.stringify(outputs));
`;
    await writeFile(join(cwd, 'use.mts'), source);
    await writeFile(join(cwd, 'use.mjs'), source);
    const { stdout } = await execute(process.execPath, ['use.mjs'], { cwd });
    expect(stdout.trim()).to.equal('{"a":42}');
    await compile({ 'use.mts': source });
  });

  /** Programs that use an entry as a project does that has installed nothing else, and switches on all that is strict. */
  const programs: Readonly<Record<string, string>> = {
    wavetrain: `import { defineTool, inspectRun, LocalExecutor, RunRegistry, type LocalExecutorOptions } from 'wavetrain';
export const tool = defineTool({
  name: 'pick', description: '', run: async ({ rows, first }, { fetch }) => (first ? rows[0] : (await fetch('x')).bytes.length),
  inputs: { rows: { type: 'list', items: { type: 'list' }, required: true, description: '' }, first: { type: 'boolean', default: true, description: '' } },
});
export function watch(executor: LocalExecutor, seen: string[]): void {
  inspectRun(executor, 'r').subscribe((event) => {
    if (event.type === '@xstate.snapshot') seen.push(event.actorRef.sessionId, event.snapshot.status);
  });
}
export const options: LocalExecutorOptions = {};
export const registry: typeof RunRegistry = RunRegistry;
// @ts-expect-error -- there is no such event
export const wrong = (executor: LocalExecutor) => inspectRun(executor, 'r').subscribe((event) => event.type === '@xstate.nothing');`,
    'wavetrain/client': `import { WavetrainClient } from 'wavetrain/client';
export async function follow(client: WavetrainClient): Promise<number> {
  const { run_id } = await client.submit('{}');
  for await (const event of client.events(run_id)) if (event.kind === 'fail') return event.seq;
  return 0;
}`,
    'wavetrain/testing': `import { MemoryBlackboard } from 'wavetrain';
import { blackboardSuite } from 'wavetrain/testing';
export const cases = blackboardSuite({ create: () => new MemoryBlackboard() });`,
  };

  /** Compiles files without `skipLibCheck`, each for itself. */
  async function compile(files: Readonly<Record<string, string>>): Promise<void> {
    const folder = join(cwd, 'compiled');
    await mkdir(folder, { recursive: true });
    const compilerOptions = {
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noImplicitOverride: true,
      skipLibCheck: false,
      noEmit: true,
      types: [],
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const config = { compilerOptions, files: Object.keys(files) };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(project, 'node_modules', 'typescript', 'bin', 'tsc');
    await execute(process.execPath, [tsc, '-p', folder]).catch((error: { readonly stdout: string }) =>
      expect.fail(error.stdout),
    );
  }

  it('has types for each of its entries', () => {
    const { exports } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, string | object>>;
    };
    const entries = Object.entries(exports).filter(([, target]) => typeof target === 'object');
    const names = entries.map(([entry]) => join('wavetrain', entry));
    expect(Object.keys(programs)).to.have.members(names);
  });

  for (const [entry, source] of Object.entries(programs)) {
    it(`compiles in an empty TypeScript project that imports ${entry}, without skipLibCheck`, async () => {
      await compile({ 'program.mts': source });
    });
  }

  it('installs as the README says, and runs its library example, in a folder made by npm init -y', async () => {
    expect(printed.trim().split('\n').at(-1)).to.equal(version);
    const file = program?.info['package'] ?? '';
    await writeFile(join(cwd, file), program?.text ?? '');
    const shown = fences.find(({ line }) => line > (program?.line ?? 0));
    expect((await execute(process.execPath, [file], { cwd })).stdout).to.equal(shown?.text);
  });

  it('exports the conformance suites', async () => {
    const source = `import { blackboardSuite } from 'wavetrain/testing';
import { MemoryBlackboard } from 'wavetrain';
for (const { run } of blackboardSuite({ create: () => new MemoryBlackboard() })) await run();
console.log('conforms');
`;
    await writeFile(join(cwd, 'suite.mjs'), source);
    expect((await execute(process.execPath, ['suite.mjs'], { cwd })).stdout.trim()).to.equal('conforms');
  });
});
