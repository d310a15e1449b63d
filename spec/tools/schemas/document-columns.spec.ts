import { expect } from 'chai';
import type { Json } from '../../../lib/common/json/json.js';
import { findColumns } from '../../../lib/tools/schemas/document-columns.js';

/** The names that are found, and the number of pauses on the way. */
function find(value: Json): { names: readonly string[] | undefined; pauses: number } {
  const steps = findColumns(value);
  let pauses = 0;
  for (let step = steps.next(); ; step = steps.next(), pauses++)
    if (step.done === true) return { names: step.value, pauses };
}

describe('findColumns', () => {
  it('looks at no more than 500 lines, or listed names, in a step', () => {
    const text = { format: 'x', text: '|a\n'.repeat(200_000) };
    expect(find(text)).to.deep.equal({ names: ['a'], pauses: 400 });
    const blank = { format: 'x', text: '\n'.repeat(200_000) };
    expect(find(blank)).to.deep.equal({ names: [], pauses: 400 });
    const pages = { pages: Array.from({ length: 200_000 }, () => ({ text: '|a' })) };
    expect(find(pages)).to.deep.equal({ names: ['a'], pauses: 400 });
    const columns = { pages: [], columns: Array.from({ length: 200_000 }, () => 'a') };
    expect(find(columns)).to.deep.equal({ names: ['a'], pauses: 400 });
  });

  it('stops after one more name than a schema may have', () => {
    const text = Array.from({ length: 200_000 }, (_, i) => `|a${i}`).join('\n');
    const { names, pauses } = find({ format: 'x', text });
    expect(names).to.have.length(10_001);
    expect(pauses).to.equal(20);
  });

  it('takes a first cell of more than 1000 characters for prose', () => {
    const long = 'x'.repeat(1000);
    const rows = [`|${long}|1|`, `|${long}`, `| Costs | ${long}`, `${' '.repeat(2000)}| far |`];
    expect(find({ format: 'x', text: rows.join('\r\n') }).names).to.deep.equal(['Costs']);
  });
});
