import { expect } from 'chai';
import { checkDefinition, checkPipeline } from '../../../lib/pipelines/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

const catalog = builtinCatalog();

/** Creates a task whose inputs contain one list `count` times. */
function repeating(times: number): string {
  const tasks = Array.from(
    { length: times },
    (_, index) => `{id: t${index}, tool: mock, inputs: {x: *list}}`,
  );
  const list = Array.from({ length: 1000 }, () => 'twenty characters...').join(', ');
  return `{id: p, goal: g, tasks: [{id: t, tool: mock, inputs: {x: &list [${list}]}}, ${tasks.join(', ')}]}`;
}

describe('The limit on alias expansion (D7)', () => {
  it('lets a text grow by up to 1 MiB', () => {
    expect(checkPipeline(repeating(30), { catalog }).problems).to.deep.equal([]);
    const { ok, problems } = checkPipeline(repeating(60), { catalog });
    expect(ok).to.equal(false);
    expect(problems.map(({ code, message }) => [code, message])).to.deep.equal([
      ['too_large', 'expanding its repeated parts would make it more than 1 MiB longer'],
    ]);
  });

  it('rejects an object whose shared parts would expand without end', () => {
    let shared: unknown[] = ['x'];
    for (let level = 0; level < 80; level++) shared = [shared, shared];
    const definition = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { shared } }] };
    expect(checkDefinition(definition, { catalog }).problems.map(({ code }) => code)).to.deep.equal([
      'too_large',
    ]);
  });

  it('accepts an object that uses one small part very often', () => {
    const part = { text: 'twenty characters...' };
    const tasks = Array.from({ length: 50_000 }, (_, index) => ({
      id: `t${index}`,
      tool: 'mock',
      inputs: { part },
    }));
    expect(checkDefinition({ id: 'p', goal: 'g', tasks }, { catalog }).ok).to.equal(true);
  });
});
