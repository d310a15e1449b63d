import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildStatelyPage } from './build/stately-page.mjs';
import { copySwaggerUi } from './build/swagger-ui.mjs';

// The library's dependencies stay external, so that the host application shares them. The command is one file with all
// that every run needs, since resolving and compiling single files would dominate the time of a short run; packages that
// only some runs need stay external and are loaded lazily.
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The file that the build writes last. */
const lastOutput = join(root, 'dist', 'LICENSES.txt');
if (process.argv.includes('--if-changed') && (isUpToDate() || hasNoBuilder())) process.exit();

const { build } = await import('esbuild');
const { buildCommand } = await import('./build/command.mjs');
const { buildConsole, buildInspector } = await import('./web.mjs');

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

const lazyPackages = [
  'ajv',
  'croner',
  'csv-parse',
  'htmlparser2',
  'ipaddr.js',
  'jiti',
  'jsonata',
  'mammoth',
  'mysql2',
  'pg',
  're2js',
  'read-excel-file',
  'undici',
  'unpdf',
  'write-excel-file',
];
const serverPackages = [
  '@koa/router',
  '@opentelemetry',
  'eventsource-parser',
  'koa',
  'koa-bodyparser',
  'koa2-swagger-ui',
  'pino',
  'prom-client',
  'ws',
];

rmSync(join(root, 'dist'), { recursive: true, force: true });

/** Draws the statecharts of the machines, and writes the types, in processes of their own while the bundles are built. */
const besideBundles = Promise.all([
  runNode('--import', 'tsx', 'scripts/statecharts/write.ts'),
  runNode('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
    .then(() => runNode('--import', 'tsx', 'scripts/build/wire-types.ts'))
    .then(() => runNode('--import', 'tsx', 'scripts/build/standalone-types.ts')),
]);

/** The packages of model providers are bundled: few runs need them, and installed they would take 40 MB. */
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const installed = Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [
  name,
  `${name}/*`,
]);

/** Large packages that few runs need, each behind one module. */
const SDKS_APART = {
  'model-providers': 'lib/models/providers/sdk.ts',
  'mcp-client': 'lib/tools/mcp/sdk.ts',
  'mcp-server': 'lib/cli/mcp-host/sdk.ts',
};

const library = await build({
  ...shared,
  metafile: true,
  entryPoints: { index: 'lib/index.ts', testing: 'lib/testing/index.ts', client: 'lib/client/index.ts' },
  chunkNames: 'library-[hash]',
  external: installed,
});

const commandMetafile = await buildCommand({
  ...shared,
  external: [...lazyPackages, ...serverPackages].flatMap((name) => [name, `${name}/*`]),
  plugins: [{ name: 'apart', setup: keepSdksApart }],
  url: URL_OF_THIS_FILE,
});

const apart = await build({
  ...shared,
  splitting: false,
  metafile: true,
  entryPoints: SDKS_APART,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  external: installed,
  minify: true,
  define: { 'import.meta.url': '__url' },
  banner: { js: URL_OF_THIS_FILE },
});

copySwaggerUi();
await buildStatelyPage();
const pages = [...(await buildInspector()), ...(await buildConsole())];
// The worker processes run files of their own.
await build({
  ...shared,
  splitting: false,
  entryPoints: {
    'document-process': 'lib/tools/documents/document-process.ts',
    'fork-server-process': 'lib/common/workers/fork-server-process.ts',
    'expression-process': 'lib/tools/expressions/expression-process.ts',
    'store-thread': 'lib/runs/store/sqlite/thread/store-thread.ts',
    'backup-process': 'lib/runs/store/maintenance/backup-process.ts',
    'parsing-process': 'lib/definition/parsing/parsing-process.ts',
    'sql-process': 'lib/tools/builtin/sql-query/local/local-process.ts',
  },
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  packages: 'external',
  define: { 'import.meta.url': '__url' },
  banner: { js: URL_OF_THIS_FILE },
});

await besideBundles;
writeFileSync(
  lastOutput,
  collectLicenses([
    ...Object.keys(commandMetafile.inputs),
    ...Object.keys(library.metafile.inputs),
    ...Object.keys(apart.metafile.inputs),
    ...pages,
    'node_modules/swagger-ui-dist/',
  ]),
);

/** Prints what the program prints when it fails, as tsc does on standard output. */
async function runNode(...args) {
  try {
    await promisify(execFile)(process.execPath, args, { cwd: root });
  } catch (error) {
    console.error(`${error.stdout}${error.stderr}`);
    process.exit(1);
  }
}

/**
 * Lets the command load the SDKs of models and of MCP from files of their own when the first one is needed. The command's
 * `require` is that of bin/start.cjs, so a path must mean the same from `bin` and from `dist`.
 */
function keepSdksApart(build) {
  for (const [name, file] of Object.entries(SDKS_APART)) {
    const imported = file.replace(/^lib/, '').replace(/\.ts$/, '.js');
    build.onResolve({ filter: /\/sdk\.js$/ }, ({ path, resolveDir }) => {
      const found = join(resolveDir, path).slice(join(root, 'lib').length);
      return found === imported ? { path: `../dist/${name}.cjs`, external: true } : undefined;
    });
  }
}

/** True when no input of the build is newer than what it has written. */
function isUpToDate() {
  if (!existsSync(lastOutput)) return false;
  const builtAt = statSync(lastOutput).mtimeMs;
  const sources = ['lib', 'machines', 'scripts', 'web'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  const inputs = [...sources, 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  return inputs.every((file) => statSync(join(root, file)).mtimeMs < builtAt);
}

/** Npm also runs this script after it has removed the development packages: what was built then stays. */
function hasNoBuilder() {
  return existsSync(lastOutput) && !existsSync(join(root, 'node_modules', 'esbuild'));
}

/** Collects the licences of the bundled packages, which must accompany the bundle. */
function collectLicenses(files) {
  const packages = new Set(
    files.flatMap((file) => file.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1] ?? []),
  );
  return [...packages]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(formatLicense)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function formatLicense(name) {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}
