import { expect } from 'chai';
import { type CliContext, systemContext } from '../../../lib/cli/context.js';
import { LiveDisplay, openDisplay } from '../../../lib/cli/progress/display.js';
import { PipelineRunView } from '../../../lib/cli/progress/run-view.js';
import { settle } from '../../support/deferred.js';
import { renderScreen } from '../../support/screen.js';
import { ManualClock } from '../../support/manual-clock.js';
import { Recorder, Screen } from '../invoke.js';
import { stamp } from './stamped-event.js';

const FLAGS = { json: false, quiet: false, verbose: false };
const createView = (): PipelineRunView => new PipelineRunView([['a', 'b']]);

describe('LiveDisplay', () => {
  let clock: ManualClock;
  let screen: Screen;
  beforeEach(() => {
    clock = new ManualClock();
    screen = new Screen(60, 10);
  });

  const context = (changed: Partial<CliContext> = {}): CliContext => ({
    ...systemContext(),
    clock,
    stderr: screen,
    env: { NO_COLOR: '1' },
    ...changed,
  });

  async function redraw(): Promise<void> {
    clock.advance(100);
    // The first redraw imports log-update.
    while (clock.pending === 0) await settle(1);
  }

  function begin(display: LiveDisplay): void {
    display.onEvent(stamp({ kind: 'wave', wave: 0, phase: 'start', tasks: 2 }));
    display.onEvent(stamp({ kind: 'start', task_id: 'a', tool: 'x', wave: 0 }));
  }

  it('opens on a terminal only, and not with --json, --quiet, in CI or on a dumb terminal (D41)', () => {
    const isLive = (flags: object, changed: Partial<CliContext> = {}): boolean => {
      const display = openDisplay({ ...FLAGS, ...flags }, createView, context(changed));
      display.close();
      return display instanceof LiveDisplay;
    };
    expect(isLive({})).to.equal(true);
    expect(isLive({ verbose: true })).to.equal(true);
    expect(isLive({}, { env: { CI: 'false' } })).to.equal(true);
    expect(isLive({ json: true })).to.equal(false);
    expect(isLive({ quiet: true })).to.equal(false);
    expect(isLive({}, { env: { CI: 'true' } })).to.equal(false);
    expect(isLive({}, { env: { TERM: 'dumb' } })).to.equal(false);
    expect(isLive({}, { stderr: new Recorder() })).to.equal(false);
  });

  it('redraws at most every 100 ms, however many events arrive', async () => {
    const display = new LiveDisplay(createView(), false, context());
    begin(display);
    for (let item = 0; item < 1000; item += 1) {
      display.onEvent(stamp({ kind: 'item', task_id: 'a', item, phase: 'finish', attempt: 1 }));
    }
    await settle();
    expect(screen.text).to.equal('');
    await redraw();
    expect(screen.text.match(/wave 1 of 1/g)).to.have.length(1);
    await redraw();
    expect(screen.text.match(/wave 1 of 1/g)).to.have.length(2);
    display.close();
  });

  it('draws a run that ends before the first redraw only once', async () => {
    const display = new LiveDisplay(createView(), false, context());
    begin(display);
    display.onEvent(stamp({ kind: 'wave', wave: 0, phase: 'finish', tasks: 2 }));
    display.close();
    expect(screen.text).to.equal('✓ wave 1 of 1  2 tasks  0 ms\n');
  });

  it('stops its timer when closed, and can be closed twice', async () => {
    const display = new LiveDisplay(createView(), false, context());
    begin(display);
    await redraw();
    display.close();
    const before = screen.text;
    display.close();
    expect(clock.pending).to.equal(0);
    expect(screen.text).to.equal(before);
  });

  it('keeps printed lines above the view', async () => {
    const display = new LiveDisplay(createView(), false, context());
    begin(display);
    display.print('something happened');
    await redraw();
    expect(screen.text.indexOf('something happened\n')).to.be.below(screen.text.indexOf('wave 1 of 1'));
    display.close();
    display.print('and afterwards');
    expect(screen.text.endsWith('and afterwards\n')).to.equal(true);
  });

  it('prints every event above the view with --verbose', async () => {
    const display = new LiveDisplay(createView(), true, context());
    begin(display);
    await redraw();
    expect(screen.text).to.contain('12:34:56.789 a started (x)\n');
    display.close();
  });

  it('leaves no rows behind when the view shrinks in its middle', async () => {
    const frames = [
      ['one', 'two', 'three', 'to come'],
      ['one', 'to come'],
      ['one', 'two', 'to come'],
    ];
    let shown = 0;
    const changing = { onEvent: () => undefined, render: () => frames[Math.min(shown++, 2)] ?? [] };
    const display = new LiveDisplay(changing, false, context());
    for (const frame of frames) {
      await redraw();
      expect(renderScreen(screen.text).trimEnd().split('\n')).to.deep.equal(frame);
    }
    display.close();
    expect(renderScreen(screen.text).trimEnd().split('\n')).to.deep.equal(frames[2]);
  });
});
