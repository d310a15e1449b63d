import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { AuditEntry, AuditPage } from '../../../../lib/audit/audit-entry.js';
import { WATCH_MS } from '../../../../lib/cli/commands/serve/file-poller.js';
import { systemClock } from '../../../../lib/common/clock.js';
import { requireBuild } from '../../../project/files.js';
import { sha256 } from '../../../support/http/api-key.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { post, Serve } from './serving.js';

const HELLO = { pipeline: { id: 'hello', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] } };

describe('serve with an audit (D95)', () => {
  before(() => requireBuild());
  const folder = useTemporaryFolder();
  let serve: Serve;

  const stop = async (): Promise<void> => {
    serve.signals.emit('SIGTERM');
    await serve.ended;
  };
  afterEach(stop);

  describe('and SERVICE_AUDIT_LOG', () => {
    it('appends each entry to a file, relative to its folder, also those counted until its end', async () => {
      serve = new Serve([], { SERVICE_AUDIT_LOG: 'audit.jsonl' }, undefined, { cwd: folder.path });
      const url = await serve.url();
      await post(url, '/pipelines/run', HELLO);
      for (let attempt = 0; attempt < 3; attempt++) await post(url, '/pipelines/run', {});
      await stop();
      const lines = readFileSync(folder.at('audit.jsonl'), 'utf8').trimEnd().split('\n');
      expect(lines.map(summarize)).to.deep.equal([
        ['audit', 'submit', 'ok', 1],
        ['audit', 'submit', 'refused', 1],
        ['audit', 'submit', 'refused', 2],
      ]);
      expect(serve.stdout.text).not.to.contain('"audit"');
    });

    it('writes each entry to standard output with "-", between the lines of the log', async () => {
      serve = new Serve([], { SERVICE_AUDIT_LOG: '-' });
      await post(await serve.url(), '/pipelines/run', HELLO);
      await stop();
      const audited = serve.lines.filter(({ type }) => type === 'audit');
      expect(audited).to.have.length(1);
      expect(audited[0]).to.deep.include({ action: 'submit', who: { kind: 'anonymous', name: null } });
      expect(serve.lines.map(({ msg }) => msg)).to.include.members(['listening', 'shutting down']);
    });
  });

  describe('that lists changes of its keys', () => {
    const keyOf = (name: string): string =>
      `- {name: ${name}, sha256: "${sha256(name)}", tenants: ["*"], scopes: [read, run, admin]}\n`;

    /** Delays of the watch of files end at once. */
    const clock = {
      ...systemClock,
      setTimeout: (run: () => void, ms: number) =>
        systemClock.setTimeout(run, (Object.values(WATCH_MS) as number[]).includes(ms) ? 1 : ms),
    };

    const start = async (context = {}): Promise<string> => {
      const file = folder.write('keys.yaml', keyOf('root') + keyOf('ann'));
      serve = new Serve([], { SERVICE_API_KEYS_FILE: file }, undefined, context);
      return serve.url();
    };

    const list = async (url: string, query: string): Promise<readonly AuditEntry[]> => {
      const response = await fetch(`${url}/admin/audit?${query}`, { headers: { 'x-api-key': 'root' } });
      return ((await response.json()) as AuditPage).entries;
    };

    /** Resolves with the entries of the server about its configuration, once there is one. */
    const untilReloaded = async (url: string): Promise<readonly AuditEntry[]> => {
      for (;;) {
        const entries = await list(url, 'who=server&action=reload');
        if (entries.length > 0) return entries;
        await Promise.race([setImmediate(), serve.ended]);
      }
    };

    it('on SIGHUP, and then the refused attempts with a revoked key', async () => {
      const url = await start();
      folder.write('keys.yaml', keyOf('root') + keyOf('bob'));
      serve.signals.emit('SIGHUP');
      const [entry, ...others] = await untilReloaded(url);
      expect(others).to.deep.equal([]);
      expect(entry).to.deep.include({
        who: { kind: 'server', name: null },
        object: { kind: 'configuration', id: 'keys' },
        tenant_id: null,
        address: null,
        result: 'ok',
        details: { cause: ['signal'], added: ['bob'], removed: ['ann'] },
      });
      await fetch(`${url}/pipelines/runs`, { headers: { 'x-api-key': 'ann' } });
      expect((await list(url, 'result=refused'))[0]).to.deep.include({
        who: { kind: 'anonymous', name: null },
        action: 'access',
        object: { kind: 'path', id: '/pipelines/runs' },
        status: 401,
      });
    });

    it('on POST /admin/reload, together with the key that asked for it', async () => {
      const url = await start();
      folder.write('keys.yaml', keyOf('root'));
      await fetch(`${url}/admin/reload`, { method: 'POST', headers: { 'x-api-key': 'root' } });
      const entries = await list(url, 'action=reload');
      expect(
        entries.map(({ who, object, address }) => [who.kind, who.name, object.id, address]),
      ).to.deep.equal([
        ['key', 'root', null, '127.0.0.1'],
        ['server', null, 'keys', null],
      ]);
      expect(entries[1]?.details).to.deep.equal({ cause: ['request'], removed: ['ann'] });
    });

    it('when their file changes', async () => {
      const url = await start({ clock });
      folder.write('keys.yaml', keyOf('root'));
      const [entry] = await untilReloaded(url);
      expect(entry?.details).to.deep.equal({ cause: ['file'], removed: ['ann'] });
    });

    it('also when they could not be read again', async () => {
      const url = await start();
      folder.write('keys.yaml', '[]');
      serve.signals.emit('SIGHUP');
      const [entry] = await untilReloaded(url);
      expect(entry).to.deep.include({
        object: { kind: 'configuration', id: null },
        result: 'failed',
        details: { cause: ['signal'] },
      });
    });
  });
});

function summarize(line: string): unknown[] {
  const { type, action, result, count } = JSON.parse(line) as AuditEntry & { readonly type: string };
  return [type, action, result, count];
}
