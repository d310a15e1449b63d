import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../lib/compile/compile.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { ROOT } from '../project/files.js';
import { ScriptedModels } from '../models/scripted-models.js';

describe('docs/models/compile.md', () => {
  const text = readFileSync(join(ROOT, 'docs/models/compile.md'), 'utf8');
  const [, lines = ''] = /^```jsonl file=answers.jsonl\n(.*?)^```$/ms.exec(text) ?? [];
  const answers = lines
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { text: string }).text);
  const documented = [...text.matchAll(/^> - (line .*)$/gm)].map(([, problem]) => problem);

  it('shows the problems of the first answer as the model and validate get them, with their columns', async () => {
    const [first = '', second = ''] = answers;
    const { repair_history } = await compile('duties', { models: new ScriptedModels(first, second) });
    const [{ yaml, error } = { yaml: '', error: '' }] = repair_history;
    expect(documented).to.have.length(2);
    for (const problem of documented) expect(error.split('\n')).to.include(problem);
    let problems: unknown;
    try {
      parsePipeline(yaml);
    } catch (thrown) {
      ({ problems } = thrown as { problems: unknown });
    }
    const places = (problems as { line: number; column: number }[]).map(
      ({ line, column }) => `line ${line}, column ${column}`,
    );
    expect(places).to.deep.equal(
      documented.map((problem) => /^line \d+, column \d+/.exec(problem ?? '')?.[0]),
    );
  });
});
