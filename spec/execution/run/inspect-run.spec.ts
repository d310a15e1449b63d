import { expect } from 'chai';
import type { InspectionEvent } from 'xstate';
import { inspectRun } from '../../../lib/execution/run/inspect-run.js';
import { settle } from '../../support/deferred.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { startRun } from '../../support/runs/start-run.js';
import { takeWarnings } from '../../support/warnings.js';

const idOf = ({ actorRef }: InspectionEvent): string => Reflect.get(actorRef, 'id');

describe('inspectRun(executor, runId)', () => {
  it("gives XState's own inspection events, after those of the actors that exist", async () => {
    const controlled = new ControlledTool();
    const { executor, runId } = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
    const seen: InspectionEvent[] = [];
    let isComplete = false;
    inspectRun(executor, runId).subscribe({
      next: (event) => seen.push(event),
      complete: () => {
        isComplete = true;
      },
    });
    expect(seen.map(({ type }) => type)).to.deep.equal(
      Array.from({ length: 3 }, () => ['@xstate.actor', '@xstate.snapshot']).flat(),
    );
    expect(seen.map(idOf).slice(2)).to.deep.equal(['wave', 'wave', 'a', 'a']);
    await controlled.returns(1);
    const rest = seen.slice(6);
    expect(new Set(rest.map(({ type }) => type)))
      .to.include('@xstate.event')
      .and.include('@xstate.microstep');
    expect(new Set(seen.map(({ rootId }) => rootId))).to.have.property('size', 1);
    expect(isComplete).to.equal(true);
  });

  it('can be iterated over, until the run has ended', async () => {
    const controlled = new ControlledTool();
    const { executor, runId } = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
    const types: string[] = [];
    const reading = (async () => {
      for await (const { type } of inspectRun(executor, runId)) types.push(type);
    })();
    await settle();
    await controlled.returns(1);
    await reading;
    expect(types.at(-1)).to.equal('@xstate.snapshot');
    for await (const event of inspectRun(executor, runId)) throw new Error(`after its end: ${event.type}`);
  });

  it('removes an observer that throws, with a warning, and the run goes on', async () => {
    const controlled = new ControlledTool();
    const run = await startRun('{id: a, tool: controlled}', { tools: [controlled.tool] });
    const { executor, runId } = run;
    let calls = 0;
    inspectRun(executor, runId).subscribe(() => {
      calls++;
      throw new Error('no thanks');
    });
    await controlled.returns(1);
    expect(calls).to.equal(1);
    expect(await takeWarnings()).to.deep.equal([
      `an inspector of run ${runId} threw and was removed: no thanks`,
    ]);
    expect(run.record().status).to.equal('succeeded');
  });

  it('rejects an unknown run', async () => {
    const { executor } = await startRun('{id: a, tool: mock}');
    expect(() => inspectRun(executor, 'none')).to.throw('there is no run none');
  });
});
