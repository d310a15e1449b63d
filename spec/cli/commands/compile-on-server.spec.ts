import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { ToolError } from '../../../lib/common/errors.js';
import { BROKEN, VALID } from '../../compile/definitions.js';
import { ScriptedModels } from '../../models/scripted-models.js';
import { deferred } from '../../support/deferred.js';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type Invocation, invoke, type InvokeOptions, Screen } from '../invoke.js';

describe('compile --server', () => {
  const folder = new TemporaryFolder();
  let server: TestServer;
  afterEach(() => server.close(0));
  after(() => folder.remove());

  async function open(...answers: ConstructorParameters<typeof ScriptedModels>): Promise<ScriptedModels> {
    const models = new ScriptedModels(...answers);
    server = await startTestServer({ models });
    return models;
  }

  /** Runs the command without any model of its own. */
  function run(argv: readonly string[], options: InvokeOptions = {}): Promise<Invocation> {
    return invoke(['compile', 'ask', '--server', server.url, ...argv], { cwd: folder.path, ...options });
  }

  it('prints what compile prints, and writes it with --output', async () => {
    await open(BROKEN, VALID, VALID);
    expect(await run([], { clock: new ManualClock() })).to.deep.equal({
      status: 0,
      stdout: `# pipeline ask, 1 repair\n${VALID}`,
      stderr: '',
    });
    expect((await run(['--output', 'out.yaml'])).stdout).to.contain('written to out.yaml');
    expect(readFileSync(folder.at('out.yaml'), 'utf8')).to.equal(VALID);
  });

  it('says in a pipe that it waits for the server, but not with --json', async () => {
    const clock = new ManualClock();
    const models = new ScriptedModels(VALID);
    server = await startTestServer({
      models: {
        assertConfigured: () => undefined,
        generate: (request, caller) => {
          clock.advance(1000);
          return models.generate(request, caller);
        },
      },
    });
    expect((await run([], { clock })).stderr).to.equal(`waiting for ${server.url}\n`);
    expect((await run(['--json'], { clock })).stderr).to.equal('');
  });

  it('sends the model and the number of repairs', async () => {
    const models = await open(BROKEN, VALID);
    const { status, stderr } = await run(['--model', 'spec/other', '--max-repairs', '0']);
    expect(status).to.equal(1);
    expect(stderr)
      .to.contain('no valid pipeline in one attempt: line 6, column 13: there is no tool "lm_job"')
      .and.to.contain(`the last answer:\n${BROKEN}`);
    expect(models.requests.map(({ model }) => model)).to.deep.equal(['spec/other']);
  });

  it('says on a terminal what the model is doing, as the server reports it', async () => {
    await open(BROKEN, VALID);
    const screen = new Screen();
    await run([], { stderr: screen, env: { TERM: 'xterm' } });
    expect(screen.text)
      .to.contain('writes a draft (answer 1)')
      .and.to.contain('repairs its answer (answer 2)')
      .and.to.satisfy((text: string) => text.endsWith('\r\u001B[K'));
  });

  it('exits with 130 on Ctrl-C, which ends the request to the model (D40)', async () => {
    const ended = deferred<void>();
    const processEvents = new EventEmitter();
    await open((_, { signal }) => {
      processEvents.emit('SIGINT');
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(ToolError.nonRetryable('stopped'));
          ended.resolve();
        });
      });
    });
    expect((await run([], { processEvents })).status).to.equal(130);
    await ended.promise;
  });

  it('exits with 3 when the provider does not answer, or no server does', async () => {
    await open(() => Promise.reject(ToolError.nonRetryable('no route')));
    expect(await run([])).to.deep.include({ status: 3, stdout: '' });
    await server.close(0);
    const { status, stderr } = await run([]);
    expect(status).to.equal(3);
    expect(stderr).to.contain('wavetrain serve');
  });

  it('exits with 2 for --tools and --mcp, which a server has itself', async () => {
    await open();
    for (const flag of ['tools', 'mcp']) {
      const { status, stderr } = await run([`--${flag}`, 'x']);
      expect(status).to.equal(2);
      expect(stderr).to.contain(`--${flag} does not go with --server`).and.to.contain('serve --');
    }
  });
});
