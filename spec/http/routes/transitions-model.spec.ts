import { expect } from 'chai';
import fc from 'fast-check';
import { ControlledServer } from '../support/controlled-server.js';
import { RUN_COMMANDS } from '../support/run-commands.js';
import { ModelServer, type ModelState } from '../support/run-model.js';
import { cases } from '../../support/measuring/cases.js';

const STATES: readonly ModelState[] = ['queued', 'running', 'draining', 'succeeded', 'failed', 'cancelled'];

describe('Runs compared with a model (States and transitions)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  after(() => fixture.close());

  it('respond to every random sequence of commands like the model', async () => {
    const seen = new Set<ModelState>();
    const property = fc.asyncProperty(
      fc.commands(RUN_COMMANDS, { maxCommands: 40, size: 'max' }),
      async (commands) => {
        await fixture.clear();
        const model = new ModelServer(seen);
        await fc.asyncModelRun(() => ({ model, real: fixture }), commands);
      },
    );
    // Chance may pass a state by in one round, and hardly in ten.
    for (let round = 0; round < 10 && (round === 0 || seen.size < STATES.length); round++) {
      await fc.assert(property, cases(12, round));
    }
    expect([...seen]).to.have.members([...STATES]);
    expect(fixture.server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });
});
