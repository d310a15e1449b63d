import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VARIABLES } from '../lib/common/config/config.js';
import { drawExamples } from './example-graphs.js';
import { drawStatecharts } from './statecharts/statecharts.js';
import { generateValidators } from './validators.js';

/** Generates all files: path to content. */
export async function generateAll(): Promise<Record<string, string>> {
  return { ...generateValidators(), ...drawExamples(), ...writeSettingsPage(), ...(await drawStatecharts()) };
}

const PAGE = 'docs/reference/settings.md';
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

const BEGIN = '<!-- All variables: written by `npm run generate`. -->';
const END = '<!-- The end of all variables. -->';

/** Writes the table of all variables into the page about settings, from the declarations that the code reads. */
function writeSettingsPage(): Record<string, string> {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const rows = VARIABLES.map(({ name, description, secret, isReloaded }) => {
    const text = secret ? `${description} (never shown)` : description;
    return `| \`${name}\` | ${text.replaceAll('|', '\\|')} | ${isReloaded ? 'yes' : ''} |`;
  });
  const table = ['| Variable | Sets | Read again |', '|---|---|---|', ...rows].join('\n');
  return { [PAGE]: `${before}${BEGIN}\n\n${table}\n\n${END}${after}` };
}
