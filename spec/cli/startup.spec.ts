import { expect } from 'chai';
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireBuild } from '../project/files.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

const ROOT = join(import.meta.dirname, '../..');

/** Packages that would slow down the start of every command if they were imported statically. */
const HEAVY = [
  'xstate',
  'yaml',
  'croner',
  'typebox',
  'ajv',
  'jiti',
  'jsonata',
  'csv-parse',
  'htmlparser2',
  'mammoth',
  'read-excel-file',
  'unpdf',
  're2js',
  'undici',
  'ipaddr.js',
  'log-update',
  'koa',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@ai-sdk/openai-compatible',
  '@ai-sdk/provider',
  'ollama-ai-provider-v2',
  'zod',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
];

describe('start-up of the command line', () => {
  it('imports code for plans only when the definition is a plan', async () => {
    const reached = await filesReachedFrom(
      'lib/cli/main.ts',
      'lib/cli/lazy/validation.ts',
      'lib/cli/lazy/execution.ts',
    );
    expect(reached).to.include.members([
      'lib/cli/run/execute-run.ts',
      'lib/pipelines/check.ts',
      'lib/runs/registry.ts',
    ]);
    const planFiles = reached.filter((file) => /^lib\/(plans\/|cli\/.*plan|generated\/plan)/.test(file));
    expect(planFiles).to.deep.equal([]);
  });

  it('imports no provider of language models for a run, before a task asks one (D50)', async () => {
    const reached = await filesReachedFrom(
      'lib/cli/main.ts',
      'lib/cli/lazy/execution.ts',
      'lib/cli/lazy/server.ts',
    );
    expect(reached).to.include('lib/models/create-models.ts');
    expect(reached.filter((file) => /lib\/models\/providers|@ai-sdk|ollama-ai/.test(file))).to.deep.equal([]);
  });

  it('imports no large package before a command needs it', async () => {
    const inputs = await filesReachedFrom('lib/cli/main.ts');
    expect(inputs).to.include('lib/cli/main.ts');
    const packages = new Set(
      inputs.flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []),
    );
    expect([...packages]).to.include('clipanion');
    for (const name of HEAVY) expect([...packages]).not.to.include(name);
  });

  it('imports no shapes of outputs and no pages of tasks before a command needs them', async () => {
    const reached = await filesReachedFrom('lib/cli/main.ts');
    expect(reached).to.include('lib/submission/submitter.ts');
    const unneeded = reached.filter((file) =>
      /^lib\/((pipelines|definition)\/shapes|runs\/tasks)\//.test(file),
    );
    expect(unneeded).to.deep.equal([]);
  });
});

const FOUR_TASKS = `pipeline:
  id: four
  goal: start and end
  tasks:
    - {id: a, tool: mock}
    - {id: b, tool: mock, inputs: {x: "{{a.output.status}}"}}
    - {id: c, tool: mock, inputs: {x: "{{a.output.status}}"}}
    - {id: d, tool: mock, inputs: {x: "{{b.output.status}}", y: "{{c.output.status}}"}}
`;

describe('wavetrain run of four tasks, as it is built', () => {
  before(() => requireBuild());
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    writeFileSync(folder.at('four.yaml'), FOUR_TASKS);
  });
  afterEach(() => folder.remove());

  function runTrapped(...preloaded: string[]) {
    const trap = join(ROOT, 'spec/support/measuring/trap-slow-starts.cjs');
    const command = [join(ROOT, 'bin/wavetrain.js'), 'run', 'four.yaml'];
    const { status, stderr, output } = spawnSync(
      process.execPath,
      ['--enable-source-maps', ...[trap, ...preloaded].flatMap((file) => ['--require', file]), ...command],
      {
        cwd: folder.path,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: folder.path },
        stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        timeout: 20_000,
      },
    );
    expect(status, stderr).to.equal(0);
    return JSON.parse(output[3] ?? '') as string[];
  }

  it('neither reads the data of locales nor loads node:http, node:https or node:zlib', () => {
    expect(runTrapped().join('\n\n')).to.equal('');
    // From compiled code.
    expect(runTrapped().join('\n\n')).to.equal('');
  });

  it('would be found out, with what it uses and from where', () => {
    const file = folder.at('slow.cjs');
    writeFileSync(
      file,
      "(1000).toLocaleString(); new Intl.NumberFormat(); require('node:http'); /\\p{L}/u.test('a');",
    );
    const found = runTrapped(file);
    const what = found.map((text) => text.split('\n')[0]);
    expect(what).to.deep.equal([
      'toLocaleString',
      'Intl',
      "require('node:http')",
      'the regular expression \\p{L}',
    ]);
    for (const text of found) expect(text).to.match(/\n {4}at .*slow\.cjs:1:\d+/);
  });
});

/** Lists the files that the entry points import statically, directly or indirectly. */
async function filesReachedFrom(...entryPoints: string[]): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir: 'unwritten',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  const seen = new Set<string>();
  const inputs = new Set<string>();
  const follow = (output: string): void => {
    if (seen.has(output)) return;
    seen.add(output);
    for (const input of Object.keys(metafile.outputs[output]?.inputs ?? {})) inputs.add(input);
    for (const { path, kind } of metafile.outputs[output]?.imports ?? []) {
      if (kind === 'import-statement' && path in metafile.outputs) follow(path);
    }
  };
  for (const [output, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint !== undefined && entryPoints.includes(entryPoint)) follow(output);
  }
  return [...inputs];
}
