import { expect } from 'chai';
import { chmodSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { WATCH_MS } from '../../../../lib/cli/commands/serve/file-poller.js';
import { systemClock } from '../../../../lib/common/clock.js';
import { requireBuild } from '../../../project/files.js';
import { sha256 } from '../../../support/http/api-key.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { post, Serve } from './serving.js';

describe('serve reads its configuration again', () => {
  before(() => requireBuild());
  const folder = useTemporaryFolder();
  let server: Serve | undefined;

  afterEach(async () => {
    server?.signals.emit('SIGTERM');
    await server?.ended;
    server = undefined;
  });

  const keyOf = (name: string): string =>
    `- {name: ${name}, sha256: "${sha256(name)}", tenants: ["*"], scopes: [read, run]}\n`;

  const toolOf = (value: string): string =>
    `export default { name: 'word', description: 'a word', inputs: {}, run: () => '${value}' };\n`;

  const PIPELINE = { pipeline: { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'word', inputs: {} }] } };

  function start(env: Record<string, string>, ...flags: string[]): Serve {
    server = new Serve(flags, env);
    return server;
  }

  /** The lines about reloads, once there are so many. */
  async function reloads(of: Serve, count: number): Promise<string[]> {
    for (;;) {
      const lines = of.lines.map(({ msg }) => String(msg)).filter((msg) => msg.startsWith('configuration '));
      if (lines.length >= count) return lines;
      await Promise.race([setImmediate(), of.ended]);
    }
  }

  const wordOf = async (url: string): Promise<unknown> => {
    const answer = (await (await post(url, '/pipelines/run', PIPELINE)).json()) as {
      outputs?: { t: unknown };
      detail?: { code: string };
    };
    return answer.outputs?.t ?? answer.detail?.code;
  };

  it('on SIGHUP: keys, and nothing of a bad file', async () => {
    const file = folder.write('keys.yaml', keyOf('ann') + keyOf('bob'));
    const serve = start({ SERVICE_API_KEYS_FILE: file });
    const url = await serve.url();
    const statusOf = async (key: string): Promise<number> =>
      (await fetch(`${url}/pipelines/runs`, { headers: { 'x-api-key': key } })).status;
    folder.write('keys.yaml', keyOf('bob') + keyOf('cyd'));
    serve.signals.emit('SIGHUP');
    expect(await reloads(serve, 1)).to.deep.equal([
      'configuration read again: keys (added cyd; removed ann)',
    ]);
    expect([await statusOf('ann'), await statusOf('bob'), await statusOf('cyd')]).to.deep.equal([
      401, 200, 200,
    ]);
    folder.write('keys.yaml', '[]');
    serve.signals.emit('SIGHUP');
    const [, refused] = await reloads(serve, 2);
    expect(refused).to.match(/^configuration not read again, all stays as it was: the keys file .*no keys/);
    expect(await statusOf('bob')).to.equal(200);
  });

  for (const name of ['tools.mjs', 'tools.ts']) {
    it(`on SIGHUP: the tools of ${name}, and nothing of one that cannot be loaded`, async () => {
      const file = folder.write(name, toolOf('one'));
      const serve = start({}, '--tools', file);
      const url = await serve.url();
      expect(await wordOf(url)).to.equal('one');
      folder.write(name, toolOf('two'));
      serve.signals.emit('SIGHUP');
      await reloads(serve, 1);
      expect(await wordOf(url)).to.equal('two');
      folder.write(name, 'export default {');
      serve.signals.emit('SIGHUP');
      expect((await reloads(serve, 2))[1]).to.contain('cannot load tools');
      expect(await wordOf(url)).to.equal('two');
    });
  }

  it('on SIGHUP: a tool whose TypeScript module has changed, and one with another name', async () => {
    folder.write('word.ts', "export const word = 'one';\n");
    const tools = (name: string): string =>
      `import { word } from './word.ts';\nexport default { name: '${name}', description: 'd', inputs: {}, run: () => word };\n`;
    const file = folder.write('tools.ts', tools('word'));
    const serve = start({}, '--tools', file);
    const url = await serve.url();
    expect(await wordOf(url)).to.equal('one');
    folder.write('word.ts', "export const word = 'two';\n");
    serve.signals.emit('SIGHUP');
    await reloads(serve, 1);
    expect(await wordOf(url)).to.equal('two');
    folder.write('tools.ts', tools('other'));
    serve.signals.emit('SIGHUP');
    expect((await reloads(serve, 2))[1]).to.equal(
      'configuration read again: tools (added other; removed word)',
    );
    expect(await wordOf(url)).to.equal('invalid_definition');
  });

  it('on SIGHUP: secrets, without their values in the log', async () => {
    const file = folder.write('secrets.yaml', 'default: {TOKEN: "first-value"}\n');
    chmodSync(file, 0o600);
    const serve = start({ SERVICE_SECRETS_FILE: file });
    await serve.url();
    folder.write('secrets.yaml', 'default: {TOKEN: "second-value", OTHER: "third-value"}\n');
    serve.signals.emit('SIGHUP');
    expect(await reloads(serve, 1)).to.deep.equal([
      'configuration read again: secrets (added default/OTHER; changed default/TOKEN)',
    ]);
    expect(serve.stdout.text).to.not.contain('-value');
  });

  it('on SIGHUP: variables of --env-file, and names those that need a restart each time', async () => {
    const file = folder.write('server.env', 'SERVICE_LOG_LEVEL=info\nSERVICE_MAX_RUNNING=3\n');
    const serve = start({ SERVICE_MAX_QUEUED: '7' }, '--env-file', file);
    await serve.url();
    const changed = 'SERVICE_MAX_RUNNING=4\nSERVICE_MAX_QUEUED=8\nSERVICE_API_PORT=1\n';
    folder.write('server.env', `SERVICE_LOG_LEVEL=debug\n${changed}`);
    serve.signals.emit('SIGHUP');
    await reloads(serve, 1);
    serve.signals.emit('SIGHUP');
    const restart = 'SERVICE_MAX_RUNNING changed: restart to use it';
    expect(await reloads(serve, 2)).to.deep.equal([
      `configuration read again: settings (changed SERVICE_LOG_LEVEL); ${restart}`,
      `configuration read again: nothing has changed; ${restart}`,
    ]);
    folder.write('server.env', 'SERVICE_LOG_LEVEL=loud\n');
    serve.signals.emit('SIGHUP');
    expect((await reloads(serve, 3))[2]).to.contain('SERVICE_LOG_LEVEL');
  });

  it('when a file changes', async () => {
    // The timers of the watch are due at once; all others take their time.
    const delays: readonly number[] = Object.values(WATCH_MS);
    const clock = {
      ...systemClock,
      setTimeout: (run: () => void, ms: number) => systemClock.setTimeout(run, delays.includes(ms) ? 1 : ms),
    };
    const file = folder.write('keys.yaml', keyOf('ann'));
    server = new Serve([], { SERVICE_API_KEYS_FILE: file }, undefined, { clock });
    await server.url();
    folder.write('keys.yaml', keyOf('ann') + keyOf('bob'));
    expect(await reloads(server, 1)).to.deep.equal(['configuration read again: keys (added bob)']);
  });
});
