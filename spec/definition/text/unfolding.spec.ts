import { expect } from 'chai';
import { checkDefinition, checkPipeline } from '../../../lib/pipelines/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

const catalog = builtinCatalog();

/** A task whose inputs hold one list so many times. */
function repeating(times: number): string {
  const tasks = Array.from(
    { length: times },
    (_, index) => `{id: t${index}, tool: mock, inputs: {x: *list}}`,
  );
  const list = Array.from({ length: 1000 }, () => 'twenty characters...').join(', ');
  return `{id: p, goal: g, tasks: [{id: t, tool: mock, inputs: {x: &list [${list}]}}, ${tasks.join(', ')}]}`;
}

describe('a definition with parts that stand in several places (D7)', () => {
  it('may have them, up to a mebibyte more than it is long', () => {
    expect(checkPipeline(repeating(30), { catalog }).problems).to.deep.equal([]);
    const { ok, problems } = checkPipeline(repeating(60), { catalog });
    expect(ok).to.equal(false);
    expect(problems.map(({ code, message }) => [code, message])).to.deep.equal([
      ['too_large', 'parts that stand in several places would make it longer by more than 1 MiB'],
    ]);
  });

  it('is refused as an object too, when it would never end', () => {
    let shared: unknown[] = ['x'];
    for (let level = 0; level < 80; level++) shared = [shared, shared];
    const definition = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { shared } }] };
    expect(checkDefinition(definition, { catalog }).problems.map(({ code }) => code)).to.deep.equal([
      'too_large',
    ]);
  });

  it('may be an object that holds one small part very often', () => {
    const part = { text: 'twenty characters...' };
    const tasks = Array.from({ length: 50_000 }, (_, index) => ({
      id: `t${index}`,
      tool: 'mock',
      inputs: { part },
    }));
    expect(checkDefinition({ id: 'p', goal: 'g', tasks }, { catalog }).ok).to.equal(true);
  });
});
