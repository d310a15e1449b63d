import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = 'dist/types';

/** The declarations beside this file that stand for those of XState, and their place among those of the library. */
const OWN_XSTATE = 'machines/xstate-types.d.ts';

/** Their types name those of Node.js, which a project has to ask for since TypeScript 6. */
const ENTRIES = ['lib/index.d.ts', 'lib/testing/index.d.ts', 'lib/client/index.d.ts'];

// Makes the declarations of the library compile in a project of any strictness that has only installed the package.
copyFileSync('scripts/build/xstate-types.d.ts', join(ROOT, OWN_XSTATE));
for (const path of readdirSync(ROOT, { recursive: true, encoding: 'utf8' }))
  if (path.endsWith('.d.ts') && path !== OWN_XSTATE) rewrite(path);

function rewrite(path: string): void {
  const file = join(ROOT, path);
  const text = readFileSync(file, 'utf8');
  const target = relative(dirname(path), OWN_XSTATE.replace('.d.ts', '.js'));
  const specifier = target.startsWith('.') ? target : `./${target}`;
  const rewritten = text.replaceAll(/(from |import\()(['"])xstate\2/g, `$1$2${specifier}$2`);
  const reference = ENTRIES.includes(path) ? '/// <reference types="node" />\n' : '';
  if (rewritten !== text || reference !== '') writeFileSync(file, reference + rewritten);
}
