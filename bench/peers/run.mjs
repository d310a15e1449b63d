import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// Measures production code: everything of ours in one bundle, the peers as they are installed. esbuild is the project's
// own, so its `npm ci` comes first.
const here = dirname(fileURLToPath(import.meta.url));
const outdir = join(here, 'node_modules', '.cache', 'bench');
const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

rmSync(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: here,
  entryPoints: ['main.ts'],
  outdir,
  bundle: true,
  // A peer that cannot be loaded takes only its own file down.
  splitting: true,
  platform: 'node',
  target: 'node20.19',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  external: Object.keys(dependencies).flatMap((name) => [name, `${name}/*`]),
  logLevel: 'warning',
  // Bundled CommonJS packages ask for Node's own modules this way.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';var require=__createRequire(import.meta.url);",
  },
});

console.log(
  'µs a task (times the floor of the same table), medians; the candidates take turns in one process.\n',
);
measure('few', 'p-graph', 'async', '@langchain/langgraph', '@mastra/core');
// On Node 20 one AsyncLocalStorage in use makes every promise of its process slower, and what the slow ones leave
// behind is collected in the time of the others. Both effects flatter every ratio to the floor, ours too.
console.log('\nWithout LangGraph.js and Mastra, which slow down everything else in their process:\n');
measure('many', 'p-graph', 'async');

function measure(...args) {
  const { status } = spawnSync(process.execPath, [join(outdir, 'main.mjs'), ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      NODE_ENV: 'production',
      LANGSMITH_TRACING: 'false',
      LANGCHAIN_TRACING_V2: 'false',
    },
  });
  if (status !== 0) process.exit(status ?? 1);
}
