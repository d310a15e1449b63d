import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { copySwaggerUi } from './swagger-ui.mjs';

// The library keeps its dependencies outside, so that a host shares them. The command is one file with what every run
// needs, because finding and compiling those files one by one is most of what a short run would cost; what only some
// runs need stays outside and is loaded when it is needed.
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const shared = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
};

const URL_OF_THIS_FILE = "const __url=require('node:url').pathToFileURL(__filename).href;";

const ofSomeRuns = ['ajv', 'csv-parse', 'jiti', 'jsonata', 're2js'];
const ofServers = [
  '@koa/router',
  '@opentelemetry',
  'eventsource-parser',
  'koa',
  'koa-bodyparser',
  'koa2-swagger-ui',
  'pino',
  'prom-client',
];

rmSync(join(root, 'dist'), { recursive: true, force: true });

await build({
  ...shared,
  entryPoints: { index: 'lib/index.ts', testing: 'lib/testing/index.ts', client: 'lib/client/index.ts' },
  chunkNames: 'library-[hash]',
  packages: 'external',
});

const command = await build({
  ...shared,
  splitting: false,
  metafile: true,
  entryPoints: { cli: 'lib/cli/main.ts' },
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  external: [...ofSomeRuns, ...ofServers].flatMap((name) => [name, `${name}/*`]),
  minify: true,
  // Compiled code that was kept cannot import: packages are required, tool files come through bin/start.cjs.
  supported: { 'dynamic-import': false },
  define: { 'import.meta.url': '__url' },
  banner: { js: URL_OF_THIS_FILE },
});

copySwaggerUi();
// A process that evaluates expressions is started from a file of its own.
await build({
  ...shared,
  splitting: false,
  entryPoints: { 'expression-process': 'lib/tools/expressions/expression-process.ts' },
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  packages: 'external',
  define: { 'import.meta.url': '__url' },
  banner: { js: URL_OF_THIS_FILE },
});

writeFileSync(
  join(root, 'dist', 'LICENSES.txt'),
  licensesOf([...Object.keys(command.metafile.inputs), 'node_modules/swagger-ui-dist/']),
);

execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});

/** The licences of the packages that are in dist, which their authors ask to be kept with it. */
function licensesOf(files) {
  const packages = new Set(
    files.flatMap((file) => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []),
  );
  return [...packages]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}
