import { expect } from 'chai';
import { build } from 'esbuild';
import { join } from 'node:path';

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
