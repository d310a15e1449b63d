import { expect } from 'chai';
import type { RunRecord } from '../../../lib/runs/record.js';
import type { RerunRequest } from '../../../lib/runs/rerun/rerun.js';
import type { RerunReport } from '../../../lib/runs/rerun/rerun-report.js';
import { Reruns } from './reruns.js';

const HEAD = 'params: {kind: {default: receipt}},';
const ECHO = 'tool: echo, inputs';

/** Describes a rerun: its report, as text, and the tasks that it has skipped. */
async function foresee(
  reruns: Reruns,
  run: RunRecord,
  request: RerunRequest,
): Promise<{ readonly foreseen: Record<string, string>; readonly skipped: RunRecord['skipped'] }> {
  const report = await reruns.registry.previewRerun(run.run_id, request);
  const { record } = await reruns.fix(run.run_id, request);
  return { foreseen: toTexts(report), skipped: record.skipped };
}

function toTexts({ reused, runs, skips = [] }: RerunReport): Record<string, string> {
  return Object.fromEntries([
    ...reused.map(({ task_id: id }) => [id, 'reused']),
    ...runs.map(({ task_id: id, decided_anew: isOpen }) => [id, isOpen === true ? 'open' : 'runs']),
    ...skips.map(({ task_id: id, reason }) => [id, `skipped: ${reason}`]),
  ]) as Record<string, string>;
}

describe('The preview of a rerun with conditions (D60, D77)', () => {
  const BY_PARAM = `{id: a, ${ECHO}: {text: A}},
    {id: pay, ${ECHO}: {text: p}, when: {value: "{{params.kind}}", const: invoice}},
    {id: mail, ${ECHO}: {text: "{{pay.output}}"}},
    {id: log, ${ECHO}: {text: "{{pay.output ?? null}}"}}`;

  it('names the tasks that a param skips, and those that read their outputs, with the reasons of the run', async () => {
    const reruns = new Reruns();
    const first = await reruns.run(BY_PARAM, {}, HEAD);
    const { foreseen, skipped = [] } = await foresee(reruns, first, { from: 'a' });
    expect(foreseen['a']).to.equal('runs');
    expect(foreseen['pay']).to.match(/^skipped: \{\{params\.kind\}\} must be/);
    expect(foreseen['mail']).to.equal('skipped: it reads the output of "pay", which was skipped');
    expect(skipped.map(({ task_id: id, reason }) => [id, `skipped: ${reason}`])).to.deep.equal(
      ['pay', 'mail'].map((id) => [id, foreseen[id]]),
    );
  });

  it('says which tasks a changed param runs that were skipped', async () => {
    const reruns = new Reruns();
    const first = await reruns.run(BY_PARAM, {}, HEAD);
    const { foreseen, skipped } = await foresee(reruns, first, { params: { kind: 'invoice' } });
    expect(foreseen).to.deep.include({ a: 'reused', pay: 'runs', mail: 'runs' });
    expect(skipped).to.equal(undefined);
  });

  it('foresees a condition over an output that is reused, and leaves one open over an output that is not', async () => {
    const reruns = new Reruns();
    const tasks = `{id: a, ${ECHO}: {text: ""}}, {id: b, ${ECHO}: {text: B}, when: "{{a.output}}"}`;
    const first = await reruns.run(`${tasks}, {id: c, ${ECHO}: {text: C}}`);
    expect((await foresee(reruns, first, { from: 'c' })).foreseen).to.deep.equal({
      a: 'reused',
      b: 'skipped: {{a.output}} is an empty text',
      c: 'runs',
    });
    const again = await foresee(reruns, first, { from: 'a' });
    expect(again.foreseen).to.deep.equal({ a: 'runs', b: 'open', c: 'reused' });
    expect(again.skipped).to.have.length(1);
  });

  it('leaves the items of a fan-out open that have conditions', async () => {
    const reruns = new Reruns();
    const each = `{id: each, ${ECHO}: {text: "{{item}}"}, parallel_over: "{{pipeline.inputs.list}}", when: "{{item}}"}`;
    const first = await reruns.run(`${each}, {id: c, ${ECHO}: {text: C}}`, { inputs: { list: [0, 1] } });
    const { foreseen } = await foresee(reruns, first, { from: 'c' });
    expect(foreseen).to.deep.equal({ each: 'open', c: 'runs' });
  });
});
