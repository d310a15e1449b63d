import { expect } from 'chai';
import * as fc from 'fast-check';
import { checkDefinition } from '../../lib/pipelines/check.js';
import type { Pipeline } from '../../lib/pipelines/pipeline.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { measureHeap } from '../support/measuring/heap.js';
import { cases } from '../support/measuring/cases.js';

/** Bytes of definitions that are measured together, so that what else the process keeps does not count. */
const MEASURED_BYTES = 3 * 2 ** 20;

const catalog = builtinCatalog();

function check(text: string): Pipeline {
  const result = checkDefinition(JSON.parse(text), { catalog });
  if (!result.ok) throw new Error(JSON.stringify(result.problems[0]));
  return result.pipeline;
}

/** A function of its own, so that no register keeps the pipeline alive while the heap is measured. */
function sizeOf(text: string): number {
  return check(text).sizeBytes;
}

/** Expects that the median of five measurements of the heap, relative to what is counted for it, is within bounds. */
function expectRatio(definition: unknown, least: number, most: number): void {
  const text = JSON.stringify(definition);
  const sizeBytes = sizeOf(text);
  const count = Math.ceil(MEASURED_BYTES / sizeBytes);
  const create = (): Pipeline[] => Array.from({ length: count }, () => check(text));
  // The engine keeps some of the last pipeline for a while: as much before the second time as after it.
  measureHeap(create);
  const measure = (): number => measureHeap(create) / (count * sizeBytes);
  const isWithin = (ratio: number): boolean => ratio > least && ratio < most;
  const ratios = [measure(), measure()];
  // The others decide only between two that disagree.
  if (!ratios.every(isWithin)) ratios.push(measure(), measure(), measure());
  const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)];
  expect(median, String(ratios)).to.satisfy(isWithin);
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
    Object.fromEntries(list(1000, (at) => [`key${index}_${at}`, at])),
  ),
  'lists of maps of which each has its own key': pipelineOf(20, (index) => ({
    x: list(500, (at) => ({ [`k${index}_${at}`]: at })),
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
  before('warm up', () => {
    for (const shape of Object.values(SHAPES)) check(JSON.stringify(shape));
  });

  for (const [name, definition] of Object.entries(SHAPES)) {
    it(`is at most 1.3 times off for ${name}`, () => {
      expectRatio(definition, 1 / 1.3, 1.3);
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
    fc.assert(
      fc.property(inputs, (all) => {
        const definition = pipelineOf(all.length, (index) => (index === 0 ? {} : (all[index] as Inputs)));
        expectRatio(definition, 0, 1.3);
      }),
      cases(8),
    );
  });

  it('is below 3 MB for 20,000 templates of 300 different ones', () => {
    expect(check(JSON.stringify(SHAPES['templates of many tasks'])).sizeBytes).to.be.below(3e6);
  });
});
