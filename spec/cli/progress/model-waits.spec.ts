import { expect } from 'chai';
import { type CliContext, systemContext } from '../../../lib/cli/context.js';
import { CompileLine } from '../../../lib/cli/progress/compile-line.js';
import { openDisplay } from '../../../lib/cli/progress/display.js';
import { ModelWaits } from '../../../lib/cli/progress/model-waits.js';
import { PipelineRunView } from '../../../lib/cli/progress/run-view.js';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { Recorder, Screen } from '../invoke.js';
import { stamp } from './stamped-event.js';

const MODEL = 'openai/gpt-4o-mini';

describe('the models that a command waits for', () => {
  let clock: ManualClock;
  let waits: ModelWaits;
  beforeEach(() => {
    clock = new ManualClock();
    waits = new ModelWaits();
  });

  const context = (stderr: Recorder): CliContext => ({
    ...systemContext(),
    clock,
    stderr,
    modelWaits: waits,
    env: { NO_COLOR: '1' },
  });
  const open = (stderr: Recorder, flags = {}) =>
    openDisplay(
      { json: false, quiet: false, verbose: false, ...flags },
      () => new PipelineRunView([['a']]),
      context(stderr),
    );

  it('are described within a second, by the request that has waited longest', () => {
    const answered = waits.begin(MODEL, clock);
    clock.advance(500);
    expect(waits.describe()).to.equal(undefined);
    clock.advance(400);
    expect(waits.describe()).to.equal(`waiting for ${MODEL} since 1 s`);
    clock.advance(2300);
    waits.begin('mock/echo', clock);
    expect(waits.describe()).to.equal(`waiting for ${MODEL} since 3 s (2 requests)`);
    clock.advance(70_000);
    answered();
    answered();
    expect(waits.describe()).to.equal('waiting for mock/echo since 1 min 10 s');
  });

  it('get one line each in a pipe, when they let the run wait', () => {
    const stderr = new Recorder();
    const display = open(stderr);
    waits.begin('mock/echo', clock)();
    const ends = [waits.begin(MODEL, clock), waits.begin(MODEL, clock)];
    clock.advance(1000);
    for (const end of ends) end();
    waits.begin(MODEL, clock);
    clock.advance(10_000);
    expect(stderr.text).to.equal(`waiting for ${MODEL}\n`);
    display.close();
    expect(clock.pending).to.equal(0);
  });

  it('are read from the events of a run, local or of a server, until the call does something else', () => {
    const stderr = new Recorder();
    const display = open(stderr);
    const waitsOf = (item: number): LiveEvent =>
      stamp({ kind: 'log', task_id: 'ask', item, message: `waits for ${MODEL}`, waits_for: MODEL });
    clock.advance(5000);
    display.onEvent(waitsOf(1));
    display.onEvent(waitsOf(2));
    display.onEvent(stamp({ kind: 'log', task_id: 'ask', item: 1, message: 'page 3' }));
    expect(stderr.text).to.equal('');
    clock.advance(1200);
    expect(stderr.text).to.equal(`waiting for ${MODEL}\n`);
    expect(waits.describe()).to.equal(`waiting for ${MODEL} since 2 s (2 requests)`);
    display.onEvent(stamp({ kind: 'text', task_id: 'ask', item: 1, request: 1, text: 'hi' }));
    expect(waits.describe()).to.equal(`waiting for ${MODEL} since 2 s`);
    display.onEvent(stamp({ kind: 'item', task_id: 'ask', item: 2, phase: 'fail', attempt: 1, error: 'x' }));
    expect(waits.describe()).to.equal(undefined);
    display.close();
  });

  it('are not announced when they ended before somebody watched the run', () => {
    const stderr = new Recorder();
    const display = open(stderr);
    display.onEvent(stamp({ kind: 'log', task_id: 'ask', message: `waits for ${MODEL}`, waits_for: MODEL }));
    display.onEvent(stamp({ kind: 'text', task_id: 'ask', request: 1, text: 'hi' }));
    clock.advance(10_000);
    expect(stderr.text).to.equal('');
    display.close();
  });

  it('get no line with --json and --quiet', () => {
    for (const flag of ['json', 'quiet']) {
      const stderr = new Recorder();
      open(stderr, { [flag]: true });
      waits.begin(MODEL, clock);
      clock.advance(10_000);
      expect(stderr.text).to.equal('');
    }
  });

  it('are the last line of the progress on a terminal', async () => {
    const screen = new Screen(60, 10);
    const display = open(screen);
    const answered = waits.begin(MODEL, clock);
    clock.advance(3000);
    while (!screen.text.includes(`waiting for ${MODEL} since 3 s`)) await settle(1);
    answered();
    display.close();
    expect(screen.text.trimEnd().endsWith('since 3 s')).to.equal(false);
  });

  it('are named beside what a compilation does, on a terminal and in a pipe, but not with --json', () => {
    const screen = new Screen(100);
    const line = new CompileLine({ json: false }, context(screen));
    line.show('the model writes a draft (answer 1) …');
    const answered = waits.begin(MODEL, clock);
    clock.advance(2000);
    expect(screen.text).to.contain(
      `\r\u001B[Kthe model writes a draft (answer 1) … waiting for ${MODEL} since 2 s`,
    );
    line.close();
    answered();
    expect(clock.pending).to.equal(0);
    for (const json of [false, true]) {
      const stderr = new Recorder();
      const plain = new CompileLine({ json }, context(stderr));
      plain.show('the model writes a draft (answer 1) …');
      const end = waits.begin(json ? 'mock/echo' : MODEL, clock);
      clock.advance(10_000);
      end();
      plain.close();
      expect(stderr.text).to.equal(json ? '' : `waiting for ${MODEL}\n`);
    }
  });
});
