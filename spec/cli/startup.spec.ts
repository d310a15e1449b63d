import { expect } from 'chai';
import { build } from 'esbuild';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** What each short command would pay for at its start, whether it uses it or not. */
const HEAVY = [
  'xstate',
  'yaml',
  'typebox',
  'ajv',
  'jiti',
  'jsonata',
  'csv-parse',
  're2js',
  'log-update',
  'koa',
];

describe('the start of the command line', () => {
  it('knows plans only when there is one', async () => {
    const reached = await filesReachedFrom(
      'lib/cli/main.ts',
      'lib/cli/lazy/validation.ts',
      'lib/cli/lazy/execution.ts',
    );
    expect(reached).to.include.members([
      'lib/cli/run/run.ts',
      'lib/pipelines/check.ts',
      'lib/runs/registry.ts',
    ]);
    const ofPlans = reached.filter((file) => /^lib\/(plans\/|cli\/.*plan|generated\/plan)/.test(file));
    expect(ofPlans).to.deep.equal([]);
  });

  it('imports nothing heavy before a command needs it', async () => {
    const inputs = await filesReachedFrom('lib/cli/main.ts');
    expect(inputs).to.include('lib/cli/main.ts');
    const packages = new Set(
      inputs.flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []),
    );
    expect([...packages]).to.include('clipanion');
    for (const name of HEAVY) expect([...packages]).not.to.include(name);
  });
});

/** Every file that is read before an `import()` asks for more. */
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
