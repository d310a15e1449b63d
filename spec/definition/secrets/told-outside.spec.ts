import { EventEmitter } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { systemClock } from '../../../lib/common/clock.js';
import { createLog } from '../../../lib/http/logging/log.js';
import { environmentSecrets, UsedSecrets } from '../../../lib/definition/secrets/sources.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { invoke, Recorder } from '../../cli/invoke.js';
import { startTestServer } from '../../support/http/test-server.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { LEAKY_TOOLS, TOKEN } from './leaky-tools.js';

const FAILING = '{id: b, tool: leak, retry: 1, inputs: {how: message, token: "Bearer {{secrets.TOKEN}}"}}';
const TELLING = '{id: a, tool: echo, inputs: {token: "{{secrets.TOKEN}}"}}';
const pipeline = (...tasks: string[]): string => `{id: p, goal: g, tasks: [${tasks.join(', ')}]}`;

const openCatalog = async () => builtinCatalog().with(LEAKY_TOOLS);
const env = { SECRET_TOKEN: TOKEN };

function expectNothingTold(text: string): void {
  expect(text)
    .not.to.include('98765')
    .and.not.to.match(/tok[\\]*"en/);
}

describe('What the command line shows of secrets (D61)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  for (const flags of [[], ['--verbose'], ['--json'], ['--json', '--verbose'], ['--partial']]) {
    it(`masks them in run ${flags.join(' ')}`, async () => {
      const options = { env, openCatalog };
      const good = await invoke(['run', '-', ...flags], { ...options, input: pipeline(TELLING) });
      expect(good.status).to.equal(0);
      expect(good.stdout).to.include('***');
      expectNothingTold(good.stdout + good.stderr);
      const input = pipeline(TELLING, FAILING);
      const bad = await invoke(['run', '-', '--retry-base-delay', '0', ...flags], { ...options, input });
      expect(bad.status).to.equal(3);
      expect(bad.stdout + bad.stderr).to.include('refused: Bearer ***');
      expectNothingTold(bad.stdout + bad.stderr);
    });
  }

  it('masks them in the file of events, with secrets from --env-file', async () => {
    const cwd = folder.path;
    folder.write('.env', 'SECRET_TOKEN="sesame-98765"');
    const argv = ['run', '-', '--events', 'e.jsonl', '--env-file', '.env', '--retry-base-delay', '0'];
    const { status } = await invoke(argv, { cwd, env: {}, openCatalog, input: pipeline(TELLING, FAILING) });
    expect(status).to.equal(3);
    const events = readFileSync(folder.at('e.jsonl'), 'utf8');
    expect(events).to.include('the token is ***');
    expectNothingTold(events);
  });

  it('masks what tools print, and errors that they throw outside of their tasks', async () => {
    const processEvents = new EventEmitter();
    const stdout = new Recorder();
    const printing = defineTool({
      name: 'printing',
      description: 'Prints.',
      inputs: { token: { description: 'a secret', type: 'string', required: true } },
      run({ token }) {
        stdout.write(`printed ${token}\n`);
        processEvents.emit('uncaughtException', new Error(`late ${token}`));
        return null;
      },
    });
    const { stdout: printed, stderr } = await invoke(['run', '-'], {
      env: { SECRET_TOKEN: 'sesame-98765' },
      openCatalog: async () => builtinCatalog().with([printing]),
      stdout,
      processEvents,
      input: pipeline('{id: a, tool: printing, inputs: {token: "{{secrets.TOKEN}}"}}'),
    });
    expect(stderr).to.include('printed ***').and.to.include('late ***');
    expectNothingTold(printed + stderr);
  });

  it('ends with status 2 before anything runs when a secret is missing', async () => {
    const { status, stdout, stderr } = await invoke(['run', '-'], {
      env: {},
      openCatalog,
      input: pipeline(TELLING),
    });
    expect(status).to.equal(2);
    expect(stdout).to.equal('');
    expect(stderr).to.include('there is no secret "TOKEN", which task "a" reads: set SECRET_TOKEN');
  });

  it('reads the secrets of the tenant from SERVICE_SECRETS_FILE, and then none of the environment', async () => {
    const cwd = folder.path;
    chmodSync(folder.write('s.yaml', 'acme: {TOKEN: sesame-98765}'), 0o600);
    const options = { cwd, openCatalog, input: pipeline(TELLING) };
    const withFile = { ...env, SERVICE_SECRETS_FILE: 's.yaml' };
    expect(
      (await invoke(['run', '-', '--tenant', 'acme'], { ...options, env: { ...withFile } })).status,
    ).to.equal(0);
    const { status, stderr } = await invoke(['run', '-'], { ...options, env: { ...withFile } });
    expect(status).to.equal(2);
    expect(stderr).to.include('add TOKEN under "default" in the file of SERVICE_SECRETS_FILE');
    const { stdout } = await invoke(['doctor'], { cwd, env: { ...withFile } });
    expect(stdout).to.match(/secrets +acme: TOKEN/);
    expectNothingTold(stdout);
  });

  it('warns in validate of a secret that is missing, and lists names in doctor', async () => {
    const input = pipeline('{id: a, tool: mock, inputs: {x: "{{secrets.TOKEN}} {{secrets.OTHER}}"}}');
    const { status, stderr } = await invoke(['validate', '-'], { env: { ...env }, input });
    expect(status).to.equal(0);
    expect(stderr).to.include('there is no secret "OTHER" here').and.not.to.include('"TOKEN" here');
    const { stdout } = await invoke(['doctor'], { env: { ...env, SECRET_PIN: '12' } });
    expect(stdout).to.match(/secrets +PIN, TOKEN\n.*the value of SECRET_PIN has fewer than 4 characters/);
    expectNothingTold(stdout);
  });
});

describe('What a server shows of secrets (D61)', () => {
  it('masks them in responses, headers, event streams and its log', async () => {
    const secrets = environmentSecrets({ TOKEN });
    const server = await startTestServer({
      tools: LEAKY_TOOLS,
      secrets,
      env: { SERVICE_LOG_LEVEL: 'debug' },
    });
    try {
      const told: string[] = [];
      const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
        const response = await server.request(method, path, body);
        told.push(JSON.stringify([[...response.headers], response.body]));
        return response.body;
      };
      const options = { retry_base_delay: 0 };
      const failed = await ask('POST', '/pipelines/run', {
        yaml: pipeline(TELLING, FAILING),
        options,
        collect_events: true,
      });
      expect(JSON.stringify(failed)).to.include('refused: Bearer ***');
      const { run_id: runId } = failed['detail'] as { readonly run_id: string };
      for (const path of ['', '/tasks', '/tasks/a', '/tasks/b', '/events?after=0&wait=0', '/snapshot'])
        await ask('GET', `/pipelines/runs/${runId}${path}`);
      await ask('POST', `/pipelines/runs/${runId}/rerun`, {});
      await ask('POST', '/pipelines/run', { yaml: pipeline(TELLING) });
      await ask('POST', '/pipelines/run', { yaml: pipeline(TELLING.replace('TOKEN', 'GONE')) });
      expect(told.at(-1)).to.include('secret_missing');
      expectNothingTold(told.join('\n'));
      expectNothingTold(JSON.stringify(server.log));
    } finally {
      await server.close(0);
    }
  });

  it('masks what runs have used in every line of its log, also in errors with their causes', () => {
    const secrets = new UsedSecrets(environmentSecrets({ TOKEN }));
    for (const interactive of [false, true]) {
      const stream = new Recorder();
      const log = createLog({
        stream,
        interactive,
        colours: false,
        level: 'debug',
        clock: systemClock,
        mask: secrets.mask,
      });
      secrets.find('default', 'TOKEN');
      const err = new Error(`no ${TOKEN}`, { cause: new Error(TOKEN) });
      log.error({ err, facts: { deep: [TOKEN] } }, `late ${TOKEN}`);
      log.info(
        { method: 'GET', path: `/x/${encodeURIComponent(TOKEN)}`, status: 200, duration_ms: 1 },
        'request',
      );
      log.flush();
      expect(stream.text).to.include('late ***').and.to.include('/x/***');
      expectNothingTold(stream.text);
    }
  });
});
