import { drawExamples } from './example-graphs.js';
import { drawStatecharts } from './statecharts/statecharts.js';
import { writeSettingsPage } from './settings-page.js';
import { generateValidators } from './validators.js';

/** Generates all files: path to content. */
export async function generateAll(): Promise<Record<string, string>> {
  return { ...generateValidators(), ...drawExamples(), ...writeSettingsPage(), ...(await drawStatecharts()) };
}
