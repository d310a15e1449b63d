import { expect } from 'chai';
import type { Json } from '../../../lib/common/json/json.js';
import { RenderMeter } from '../../../lib/definition/template/render-meter.js';
import { compileTemplate } from '../../../lib/definition/template/template.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

const MIB = 2 ** 20;

/** Renders a value with these outputs, as the inputs of one invocation. */
function render(value: Json, outputs: Record<string, Json>, meter = new RenderMeter()): Json {
  meter.start();
  const scope = { inputs: {}, params: {}, session: {}, goal: '', meter };
  return compileTemplate(value).template.render({ ...scope, output: (taskId) => outputs[taskId] });
}

function jsonText(length: number, number: number): string {
  const start = `{"n":${number},"x":"`;
  return `${start}${'x'.repeat(length - start.length - 2)}"}`;
}

describe('RenderMeter', () => {
  it('reads a text of 1 MiB as JSON, and no longer one: parsing would hold the event loop (D12)', () => {
    expect(render('{{a.output.n}}', { a: jsonText(MIB, 7) })).to.equal(7);
    expect(() => render('{{a.output.n}}', { a: jsonText(MIB + 1, 7) })).to.throw(
      '{{a.output.n}}: a text over 1 MiB is not read as JSON: return the value itself instead of its text',
    );
    expect(() => render('{{a.output.n}}', { a: `\`\`\`json\n${jsonText(MIB, 7)}\n\`\`\`` })).to.throw(
      '1 MiB',
    );
  });

  it('passes on a long text, and reads the length of one that is not JSON', () => {
    const text = 'x'.repeat(9 * MIB);
    expect(render('{{a.output}}', { a: text })).to.equal(text);
    expect(render('{{a.output.length}}', { a: text })).to.equal(text.length);
  });

  itTimed('counts the characters of a long text once, however many templates read its length', () => {
    const template = '{{a.output.length}},'.repeat(2000);
    const output = 'x'.repeat(MIB);
    const cpuMs = measureCpuMsSync(() => {
      expect(render(template, { a: output })).to.equal(`${MIB},`.repeat(2000));
    });
    expect(cpuMs).to.be.below(1000);
  });

  it('looks for JSON in prose of up to 1 MiB; a longer text has its own length (D12)', () => {
    const prose = (length: number): string => `See [1]: ${'x'.repeat(length - 9)}`;
    expect(render('{{a.output.length}}', { a: prose(MIB) })).to.equal(1);
    expect(render('{{a.output.length}}', { a: prose(MIB + 1) })).to.equal(MIB + 1);
    expect(() => render('{{a.output.n}}', { a: prose(MIB + 1) })).to.throw('is not read as JSON');
    const five = Array.from({ length: 5 }, (_, index) => prose(MIB - index));
    expect(render('{{a.output[4].length}} {{a.output[0].length}}', { a: five })).to.equal('1 1');
  });

  it('parses texts of 4 MiB for one invocation, however often templates read them in turn (D12)', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const outputs = Object.fromEntries(names.map((name, number) => [name, jsonText(MIB, number)]));
    const meter = new RenderMeter();
    const read = (count: number): Json =>
      render(
        Array.from({ length: count }, (_, position) => `{{${names[position % 5]}.output.n}}`),
        outputs,
        meter,
      );
    expect(read(4)).to.deep.equal([0, 1, 2, 3]);
    expect(() => read(1000)).to.throw('the texts that one task reads as JSON are together over 4 MiB');
    expect(read(4)).to.deep.equal([0, 1, 2, 3]);
  });

  it('freezes what was read from a text, whichever template read it first', () => {
    const text = JSON.stringify({ list: [{ a: [1] }], pad: 'x'.repeat(2000) });
    const [inner, outer] = render(['{{a.output.list[0].a}}', '{{a.output.list}}'], { a: text }) as Json[];
    for (const value of [inner, outer, (outer as Json[])[0]]) expect(value).to.be.frozen;
  });
});
