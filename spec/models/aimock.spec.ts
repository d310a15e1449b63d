import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { LLMock } from '@copilotkit/aimock';
import { requireBuild, ROOT } from '../project/files.js';
import { catchRejection } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { ask, createCaller, KEY } from './asking.js';
import { WIRES } from './wires.js';

const COMMAND = join(ROOT, 'bin/wavetrain.js');

describe('language models of aimock (D50)', () => {
  const mock = new LLMock({ port: 0 });
  before(() => mock.start());
  beforeEach(() => void mock.reset().clearChaos());
  after(() => mock.stop());

  for (const wire of WIRES) {
    const name = wire.model.split('/')[0] ?? '';

    it(`${name}: answers`, async () => {
      mock.onMessage('Say hi', { content: 'Good morning, and welcome to the train.' });
      const parts: string[] = [];
      const { text, finish } = await ask(wire, mock, { onText: (part) => void parts.push(part) });
      expect(text).to.equal('Good morning, and welcome to the train.');
      expect(parts.join('')).to.equal(text);
      expect(finish).to.equal('stop');
    });

    it(`${name}: answers after the rate was limited for a while`, async () => {
      mock.onMessage('Say hi', { content: 'hi' });
      mock.nextRequestError(429, { message: 'slow down', type: 'rate_limit_error' });
      const caller = createCaller({ isPatient: true });
      expect(await ask(wire, mock, {}, caller)).to.include({ text: 'hi' });
      expect(caller.clock.monotonicNow()).to.be.above(0);
      expect(mock.getRequests()).to.have.length(2);
    });

    it(`${name}: asks again after a stream that aimock truncates`, async () => {
      const content = 'one two three four five six seven eight nine ten';
      mock.on({ sequenceIndex: 0 }, { content }, { truncateAfterChunks: 2, chunkSize: 4 });
      mock.on({}, { content });
      expect(await ask(wire, mock)).to.include({ text: content });
      expect(mock.getRequests()).to.have.length(2);
    });

    for (const chaos of ['malformedRate', 'disconnectRate', 'dropRate'] as const) {
      it(`${name}: gives up when aimock has a ${chaos} of 1`, async () => {
        mock.onMessage('Say hi', { content: 'hi' });
        mock.setChaos({ [chaos]: 1 });
        const error = await catchRejection(ask(wire, mock));
        expect(error).to.have.property('retryable', true);
        expect(error).to.have.property('message').that.includes('tried 5 times');
      });
    }
  }
});

describe('the built command with a language model (D50)', () => {
  before(() => requireBuild());
  const mock = new LLMock({ port: 0 });
  let folder: TemporaryFolder;
  before(() => mock.start());
  beforeEach(() => {
    mock.reset().clearChaos();
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());
  after(() => mock.stop());

  async function run(
    model: string,
  ): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
    const { port } = new URL(mock.url);
    const child = spawn(process.execPath, [COMMAND, 'run', '-', '--model', model], {
      // The run is kept in the folder of the command.
      cwd: folder.path,
      env: {
        PATH: process.env['PATH'],
        NODE_DISABLE_COMPILE_CACHE: '1',
        OPENAI_BASE_URL: `${mock.url}/v1`,
        OPENAI_API_KEY: KEY,
        ANTHROPIC_BASE_URL: mock.url,
        ANTHROPIC_API_KEY: KEY,
        OLLAMA_HOST: `:${port}`,
      },
    });
    child.stdin.end('id: p\ngoal: g\ntasks: [{id: a, tool: llm_job, inputs: {prompt: Say hi}}]\n');
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const [status] = (await once(child, 'close')) as [number];
    return { status, out, err };
  }

  for (const model of ['openai/m', 'anthropic/m', 'ollama/m']) {
    it(`asks ${model}, and asks again after status 503`, async () => {
      mock.onMessage('Say hi', { content: 'Good morning' });
      mock.nextRequestError(503, { message: 'busy' });
      const { status, out, err } = await run(model);
      expect(status, err).to.equal(0);
      expect(out).to.include('a: "Good morning"').and.include(`${model}: {requests: 1, `);
      expect(mock.getRequests()).to.have.length(2);
    });
  }

  it('fails with the words of the provider, and without the key', async () => {
    mock.nextRequestError(401, { message: `Incorrect API key provided: ${KEY}` });
    const { status, err } = await run('openai/m');
    expect(status).to.equal(3);
    expect(err).to.include(
      'openai/m: the provider refused the key (401); see whether OPENAI_API_KEY is right. It says: Incorrect API key provided: ***',
    );
    expect(err).not.to.include(KEY.slice(0, 12));
  });
});
