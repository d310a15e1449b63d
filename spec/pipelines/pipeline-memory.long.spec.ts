import { expect } from 'chai';
import * as fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { checkDefinition } from '../../lib/pipelines/check.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { cases } from '../support/measuring/cases.js';

const PROGRAM = fileURLToPath(new URL('../support/measuring/pipeline-memory.ts', import.meta.url));

/** Returns the heap that the checked pipeline of each definition takes, relative to what is counted for it. */
function measureRatios(definitions: readonly unknown[]): number[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', PROGRAM], {
    input: JSON.stringify(definitions),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as number[];
}

type Inputs = Record<string, unknown>;

const FIRST = { id: 'a', tool: 'mock' };

function pipelineOf(length: number, inputsOf: (index: number) => Inputs): unknown {
  const tasks = Array.from({ length }, (_, index) => ({
    id: `t${index}`,
    tool: 'mock',
    inputs: inputsOf(index),
  }));
  return { id: 'p', goal: 'g', tasks: [FIRST, ...tasks] };
}

const list = <T>(length: number, entryOf: (index: number) => T): T[] =>
  Array.from({ length }, (_, at) => entryOf(at));

/** Shapes of definitions whose compiled form takes up to thirty times as much as their text. */
const SHAPES: Record<string, unknown> = {
  'short templates': pipelineOf(300, () => ({ x: '{{a}}'.repeat(150) })),
  'templates of many tasks': pipelineOf(300, (index) => ({
    x: list(Math.min(80, index), (back) => `{{t${index - 1 - back}.output.x}}`).join(''),
  })),
  'plain texts': pipelineOf(300, (index) => ({ x: `plain ${index} `.repeat(100) })),
  'small tasks': pipelineOf(1000, (index) => ({ x: index })),
  'maps of templates': pipelineOf(200, () =>
    Object.fromEntries(list(100, (at) => [`k${at}`, `{{a.output.x${at}}}`])),
  ),
  'maps of plain values': pipelineOf(20, (index) =>
    Object.fromEntries(list(1000, (at) => [`key#${index}_${at}`, at])),
  ),
  'maps of a hundred plain values': pipelineOf(200, (index) =>
    Object.fromEntries(list(100, (at) => [`key#${index}_${at}`, at])),
  ),
  'lists of maps of ten plain values': pipelineOf(200, (index) => ({
    x: list(10, (map) => Object.fromEntries(list(10, (at) => [`key#${index}_${map}_${at}`, at]))),
  })),
  'lists of maps of which each has its own key': pipelineOf(20, (index) => ({
    x: list(500, (at) => ({ [`k#${index}_${at}`]: at })),
  })),
  'texts in two-byte letters': pipelineOf(300, (index) => ({ x: `\u4e2d\u6587 ${index} `.repeat(100) })),
  'lists within lists': pipelineOf(100, (index) => ({
    x: list(50, (at) => [[`{{a.output.y${at}_${index}}}`]]),
  })),
  'different templates': pipelineOf(100, (index) => ({
    x: list(60, (at) => `{{a.output.f${index}_${at}}} `).join(''),
  })),
  'templates with fallbacks': pipelineOf(100, (index) => ({
    x: list(40, (at) => `{{a.output.f${index}_${at} ?? [1, {"k": "v${at}"}]}}`).join(''),
  })),
  'goals of many templates': {
    ...(pipelineOf(1, () => ({})) as object),
    params: { a: { type: 'object', default: {} } },
    goal: list(400, (at) => `{{params.a.b${at} ?? 0}}`).join(''),
  },
  'long paths': pipelineOf(100, (index) => ({ x: `{{a.output${'.field[0]'.repeat(40)}.f${index}}}` })),
};

describe('The memory that is counted for a checked pipeline (D25)', () => {
  let ratios: number[];

  before('measure in a process of its own', () => {
    ratios = measureRatios(Object.values(SHAPES));
  });

  for (const [index, name] of Object.keys(SHAPES).entries()) {
    it(`is at most 1.3 times off for ${name}`, () => {
      expect(ratios[index])
        .to.be.above(1 / 1.3)
        .and.below(1.3);
    });
  }

  it('is never less than the heap by more than a third for random definitions', () => {
    const text = fc.array(
      fc.constantFrom('{{a}}', '{{t0.output.x}}', '{{ a.output[0] }}', ' ab ', 'c', '\\{{'),
      {
        maxLength: 60,
      },
    );
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        text.map((parts) => parts.join('')),
        fc.integer(),
        fc.array(tie('value'), { maxLength: 8 }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie('value'), { maxKeys: 8 }),
      ),
    })).value;
    const inputs = fc.array(fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), value, { maxKeys: 6 }), {
      minLength: 20,
      maxLength: 40,
    });
    const definitions = fc
      .sample(inputs, cases(8))
      .map((all) => pipelineOf(all.length, (index) => (index === 0 ? {} : (all[index] as Inputs))));
    for (const [index, ratio] of measureRatios(definitions).entries()) {
      expect(ratio, JSON.stringify(definitions[index])).to.be.above(0).and.below(1.3);
    }
  });

  it('is below 3 MB for 20,000 templates of 300 different ones', () => {
    const result = checkDefinition(SHAPES['templates of many tasks'], { catalog: builtinCatalog() });
    expect(result.ok && result.pipeline.sizeBytes).to.be.within(1, 3e6);
  });
});
