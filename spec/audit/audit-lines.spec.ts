import { expect } from 'chai';
import { mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { AuditEntry } from '../../lib/audit/audit-entry.js';
import { type AuditLines, auditLinesTo, openAuditFile } from '../../lib/audit/audit-lines.js';
import { catchRejection } from '../support/rejection.js';
import { SlowStream } from '../support/http/slow-stream.js';
import { useTemporaryFolder } from '../support/temporary-folder.js';

/** As much as may wait, in characters. */
const MAX_WAITING = 8 * 2 ** 20;

describe('The lines of an audit in a file (D95)', () => {
  const folder = useTemporaryFolder();
  let warnings: string[];
  beforeEach(() => void (warnings = []));

  const open = (name = 'audit.jsonl'): Promise<AuditLines> =>
    openAuditFile(folder.at(name), (message) => warnings.push(message));
  const idsIn = (name = 'audit.jsonl'): string[] => idsOf(readFileSync(folder.at(name), 'utf8'));

  it('are appended as JSON, one for each entry, to a file that only the user of the server may read', async () => {
    folder.write('before.jsonl', '{"id":"0"}\n');
    for (const name of ['before.jsonl', 'audit.jsonl']) {
      const lines = await open(name);
      lines.write(entry('1'));
      lines.write(entry('2'));
      await lines.close();
    }
    expect(idsIn('before.jsonl')).to.deep.equal(['0', '1', '2']);
    const [first = ''] = readFileSync(folder.at('audit.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(first)).to.deep.equal({ type: 'audit', ...entry('1') });
    expect(statSync(folder.at('audit.jsonl')).mode & 0o777).to.equal(0o600);
    expect(warnings).to.deep.equal([]);
  });

  it('go to a new file when the old one was rotated', async () => {
    const lines = await open();
    lines.write(entry('1'));
    await untilWritten(() => idsIn().length === 1);
    renameSync(folder.at('audit.jsonl'), folder.at('audit.jsonl.1'));
    lines.write(entry('2'));
    await lines.close();
    expect([idsIn('audit.jsonl.1'), idsIn()]).to.deep.equal([['1'], ['2']]);
  });

  it('refuse, with the name of the variable, a file that cannot be written', async () => {
    const thrown = await catchRejection(open('no-such-folder/audit.jsonl'));
    expect(thrown).to.have.property('code', 'bad_usage');
    expect(String(thrown)).to.match(/SERVICE_AUDIT_LOG names .*audit\.jsonl, which cannot be written: /);
  });

  it('wait while the file cannot be written, with one warning, and are written in order when it can', async () => {
    mkdirSync(folder.at('a'));
    const lines = await open('a/audit.jsonl');
    renameSync(folder.at('a'), folder.at('b'));
    lines.write(entry('1'));
    await untilWritten(() => warnings.length > 0);
    lines.write(entry('2'));
    await setImmediate();
    renameSync(folder.at('b'), folder.at('a'));
    lines.write(entry('3'));
    await lines.close();
    expect(idsIn('a/audit.jsonl')).to.deep.equal(['1', '2', '3']);
    expect(warnings).to.have.length(2);
    expect(warnings[0]).to.match(/^audit entries cannot be written to .*audit\.jsonl: /);
    expect(warnings[1]).to.match(/^audit entries are written to .*audit\.jsonl again; 0 are missing$/);
  });

  it('say at the end how many were not written', async () => {
    mkdirSync(folder.at('a'));
    const lines = await open('a/audit.jsonl');
    renameSync(folder.at('a'), folder.at('b'));
    lines.write(entry('1'));
    lines.write(entry('2'));
    await lines.close();
    expect(warnings.at(-1)).to.match(/^2 audit entries were not written to .*audit\.jsonl$/);
  });

  it('take no more memory than a limit when entries come faster than they are written, and say how many are missing', async () => {
    const lines = await open();
    for (let id = 0; id < 10; id++) lines.write(entry(`${id}`, MAX_WAITING / 4));
    await lines.close();
    expect(idsIn()).to.deep.equal(['0', '1', '2']);
    expect(warnings).to.deep.equal([
      `7 audit entries are missing in ${folder.at('audit.jsonl')}, which is written too slowly`,
    ]);
  });
});

describe('The lines of an audit on standard output (D95)', () => {
  let warnings: string[];
  let lines: AuditLines;
  let stdout: SlowStream;

  beforeEach(() => {
    warnings = [];
    stdout = new SlowStream();
    lines = auditLinesTo(stdout, (message) => warnings.push(message));
  });

  it('are written at once, one for each entry', () => {
    lines.write(entry('1'));
    lines.write(entry('2'));
    stdout.readAll();
    expect(JSON.parse(stdout.text.split('\n')[1] ?? '')).to.deep.equal({ type: 'audit', ...entry('2') });
    expect(warnings).to.deep.equal([]);
  });

  it('are left out when nobody reads them, and counted in a warning once somebody does', async () => {
    for (let id = 0; id < 10; id++) lines.write(entry(`${id}`, MAX_WAITING / 4));
    expect(warnings).to.deep.equal([]);
    stdout.readAll();
    await untilWritten(() => warnings.length > 0);
    lines.write(entry('later'));
    expect(idsOf(stdout.text)).to.deep.equal(['0', '1', '2', '3', 'later']);
    expect(warnings).to.deep.equal([
      '6 audit entries are missing on standard output, which is read too slowly',
    ]);
  });

  it('say at the end how many are missing', async () => {
    for (let id = 0; id < 6; id++) lines.write(entry(`${id}`, MAX_WAITING / 4));
    await lines.close();
    expect(warnings).to.deep.equal([
      '2 audit entries are missing on standard output, which is read too slowly',
    ]);
    stdout.readAll();
    expect(warnings).to.have.length(1);
  });
});

async function untilWritten(isWritten: () => boolean): Promise<void> {
  while (!isWritten()) await setImmediate();
}

function idsOf(text: string): string[] {
  const lines = text.trimEnd().split('\n');
  return lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { id: string }).id);
}

function entry(id: string, length = 0): AuditEntry {
  return {
    id,
    time: '2026-01-31T08:00:00.000Z',
    who: { kind: 'key', name: 'ci' },
    action: 'cancel',
    object: { kind: 'run', id: 'x'.repeat(length) },
    tenant_id: 'acme',
    address: '10.0.0.1',
    result: 'ok',
    status: null,
    code: null,
    details: {},
    count: 1,
  };
}
