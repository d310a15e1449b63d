import { expect } from 'chai';
import { readAnswer } from '../../lib/compile/read-answer.js';
import { itTimed, measureCpuMsSync } from '../support/measuring/cpu-time.js';

const YAML = `pipeline:
  id: a
  goal: g
  tasks:
    - id: one
      tool: llm_job
      inputs:
        prompt: |
          Write Markdown:

          \`\`\`sh
          ls
          \`\`\`
          and <think> about it.
`;

const FENCED: Readonly<Record<string, string>> = {
  'nothing around it': YAML,
  'a fence': `\`\`\`yaml\n${YAML}\`\`\``,
  'a fence without a language': `\`\`\`\n${YAML}\`\`\`\n`,
  'a fence of four backticks': `\`\`\`\`yml\n${YAML}\`\`\`\`\n`,
  'a fence of tildes': `~~~yaml\n${YAML}~~~\n`,
  'a fence that is not closed': `Sure!\n\`\`\`yaml\n${YAML}`,
  'an indented fence': `1. Here:\n   \`\`\`yaml\n${indent(YAML, '   ')}   \`\`\`\n`,
  'prose around a fence': `Sure, here is it:\n\n\`\`\`yaml\n${YAML}\`\`\`\n\nRun it with \`wavetrain run\`:\n\n\`\`\`sh\nwavetrain run x.yaml\n\`\`\`\n`,
  'a first try above it': `\`\`\`yaml\npipeline:\n  id: draft\n\`\`\`\nThat lacks tasks. Corrected:\n\`\`\`yaml\n${YAML}\`\`\`\n`,
  'a snippet below it': `\`\`\`yaml\n${YAML}\`\`\`\nTo change it, edit\n\`\`\`yaml\ntasks:\n  - id: one\n    inputs: {pipeline: x}\n\`\`\`\n`,
  'a part in JSON below it': `\`\`\`yaml\n${YAML}\`\`\`\nor add\n\`\`\`json\n{"id": "two", "tool": "mock"}\n\`\`\`\n`,
  'prose around it': `Here is your pipeline:\n\n${YAML}\nThis pipeline asks a model. Note: it needs a key.\n- enjoy\n`,
  'a rule after it': `${YAML}\n---\nThat is all.\n`,
  thoughts: `<think>\nThe user wants\npipeline: no, wait\n</think>\n\n${YAML}`,
  'thoughts whose first tag is missing': `They want a pipeline.\n</think>\n${YAML}`,
  'thoughts with a fence in them': `<think>\n\`\`\`yaml\npipeline:\n  id: draft\n\`\`\`\n</think>\n\`\`\`yaml\n${YAML}\`\`\``,
  'a byte order mark': `\uFEFF${YAML}`,
  'lines that end as on Windows': YAML.replaceAll('\n', '\r\n'),
};

describe('readAnswer, of what a model answers to compile (D35)', () => {
  for (const [what, text] of Object.entries(FENCED)) {
    it(`finds the definition in an answer with ${what}`, () => {
      expect(readAnswer(text)).to.deep.equal({ yaml: YAML });
    });
  }

  it('keeps the comments in which the model plans, inside of a fence', () => {
    const yaml = `# read, then ask\n${YAML}`;
    expect(readAnswer(`\`\`\`yaml\n${yaml}\`\`\``)).to.deep.equal({ yaml });
  });

  it('finds a plan, JSON, and a definition without a root key', () => {
    for (const text of [
      'plan:\n  id: p\n  sub_pipelines: []\n',
      '{"pipeline": {"id": "a", "goal": "g", "tasks": []}}\n',
      'id: a\ngoal: g\ntasks:\n- id: b\n  tool: mock\n',
    ]) {
      expect(readAnswer(`Here it is:\n${text}`)).to.deep.equal({ yaml: text });
    }
  });

  it('keeps a key that stands beside the definition, for the validator to report', () => {
    const text = 'pipeline:\n  id: a\nparams:\n  x: {}\n';
    expect(readAnswer(text)).to.deep.equal({ yaml: text });
  });

  it('reads why the model declines, with a fence or prose around it', () => {
    for (const text of [
      '# cannot: no tool',
      '```yaml\n# cannot: no tool\n```',
      'Sorry.\n#Cannot:  no tool \n',
    ]) {
      expect(readAnswer(text), text).to.deep.equal({ cannot: 'no tool' });
    }
  });

  it('prefers a definition to a comment that says what it cannot do', () => {
    const text = `# cannot: send the mail\n${YAML}`;
    expect(readAnswer(text)).to.have.property('yaml');
  });

  it('returns an answer without a definition as it is, even an empty one', () => {
    expect(readAnswer('I do not know.')).to.deep.equal({ yaml: 'I do not know.\n' });
    expect(readAnswer('')).to.deep.equal({ yaml: '\n' });
  });

  itTimed('takes time linear in the answer, whatever it repeats', () => {
    for (const part of [
      '```\n',
      '<think>',
      ' ',
      '\n',
      '{',
      '#',
      '"pipeline',
      '    pipeline',
      '# cannot:',
      '~',
      '</think>',
    ]) {
      const ms = measureCpuMsSync(() => void readAnswer(part.repeat(100_000 / part.length)));
      expect(ms, JSON.stringify(part)).to.be.below(500);
    }
  });

  itTimed('reads a line of marks that is no fence once', () => {
    const read = (count: number) => (): unknown => readAnswer(`${'~'.repeat(count)}\`\n${YAML}`);
    const few = measureCpuMsSync(read(10_000));
    expect(measureCpuMsSync(read(100_000))).to.be.below(60 * Math.max(few, 1));
  });
});

function indent(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}
