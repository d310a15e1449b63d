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
  it('imports nothing heavy before a command needs it', async () => {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints: ['lib/cli/main.ts'],
      outdir: 'unwritten',
      write: false,
      metafile: true,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    const inputs = new Set<string>();
    const follow = (output: string): void => {
      for (const input of Object.keys(metafile.outputs[output]?.inputs ?? {})) inputs.add(input);
      for (const { path, kind } of metafile.outputs[output]?.imports ?? []) {
        if (kind === 'import-statement' && path in metafile.outputs) follow(path);
      }
    };
    const [entry = ''] = Object.keys(metafile.outputs).filter(
      (output) => metafile.outputs[output]?.entryPoint,
    );
    const main = Object.keys(metafile.outputs).find(
      (output) => metafile.outputs[output]?.entryPoint === 'lib/cli/main.ts',
    );
    follow(main ?? entry);
    expect([...inputs]).to.include('lib/cli/main.ts');
    const packages = new Set(
      [...inputs].flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []),
    );
    expect([...packages]).to.include('clipanion');
    for (const name of HEAVY) expect([...packages]).not.to.include(name);
  });
});
