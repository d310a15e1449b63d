import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { StopSignals } from '../../../lib/cli/input/process-events.js';
import { ServerBackend } from '../../../lib/cli/run/server-backend.js';
import { ServerClock } from '../../../lib/cli/run/server-backend.js';
import { WavetrainClient } from '../../../lib/client/index.js';
import { ManualClock } from '../../support/manual-clock.js';
import { catchRejection } from '../../support/rejection.js';

/** A server that accepts every request and never answers. */
const neverAnswers: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
  });

describe('A run on a server that does not answer (ServerBackend)', () => {
  const clock = new ManualClock();
  const client = new WavetrainClient({ fetch: neverAnswers, clock });
  const processEvents = new EventEmitter();
  const signals = new StopSignals(processEvents);
  const backend = new ServerBackend(client, new ServerClock(clock), {
    submit: () => client.submit('id: p'),
    signals,
    server: 'http://127.0.0.1:8000',
    announce: false,
    outputFolder: undefined,
  });
  after(() => signals.close());

  it('can be stopped by a second Ctrl-C while it is submitted', async () => {
    const started = catchRejection(backend.start({ onEvent: undefined, print: () => undefined }));
    processEvents.emit('SIGINT');
    processEvents.emit('SIGINT');
    const error = await started;
    expect(error).to.include({ code: 'run_cancelled' });
    expect(String(error)).to.contain('wavetrain runs list --server http://127.0.0.1:8000 shows it');
  });

  it('is not waited for longer than 5 seconds when it is cancelled', async () => {
    const cancelled = catchRejection(backend.cancel('r1', { force: true }));
    clock.advance(5000);
    const error = await cancelled;
    expect(error).to.include({ code: 'request_timeout' });
    expect(String(error)).to.contain('wavetrain runs watch r1 --server http://127.0.0.1:8000 shows it');
  });
});
