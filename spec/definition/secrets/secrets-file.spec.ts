import { chmodSync } from 'node:fs';
import { platform } from 'node:os';
import { expect } from 'chai';
import { environmentSecrets } from '../../../lib/definition/secrets/sources.js';
import { parseSecretsFile, readSecretsFile } from '../../../lib/definition/secrets/secrets-file.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('A secrets file (D61)', () => {
  it('gives each tenant its own secrets, and no other', () => {
    const secrets = parseSecretsFile(
      'default: {TOKEN: one-1}\nacme:\n  TOKEN: "two-2"\n  KEY: |\n    three-3\n',
      's.yaml',
    );
    expect(secrets.find('default', 'TOKEN')).to.equal('one-1');
    expect(secrets.find('acme', 'TOKEN')).to.equal('two-2');
    expect(secrets.find('acme', 'KEY')).to.equal('three-3\n');
    expect(secrets.find('default', 'KEY')).to.equal(undefined);
    expect(secrets.find('toString', 'TOKEN')).to.equal(undefined);
    expect([...secrets.names]).to.deep.equal([
      ['default', ['TOKEN']],
      ['acme', ['KEY', 'TOKEN']],
    ]);
  });

  const broken: [title: string, text: string, message: RegExp][] = [
    ['nothing', '', /it is empty/],
    ['YAML that is broken', 'default: {TOKEN: "sesame-22', /line 1: it is not valid YAML$/],
    ['a list', '- sesame-22', /it must be a map of tenants.*not a list/],
    [
      'secrets without a tenant',
      'TOKEN: sesame-22',
      /line 1: a tenant has a map of names and values, not a string/,
    ],
    ['a name in small letters', 'default:\n  token: sesame-22', /line 2: a name must have capital letters/],
    ['a number', 'default:\n  PIN: 12345678', /line 2: "PIN" must be a text, not a number: put it in quotes/],
    [
      'a short value',
      'default:\n  A: abcd-1\n  PIN: "122"',
      /line 3: the value of "PIN" has fewer than 4 characters/,
    ],
  ];
  for (const [title, text, message] of broken) {
    it(`is refused with ${title}, in words without a value`, () => {
      expect(() => parseSecretsFile(text, 's.yaml'))
        .to.throw(message)
        .with.property('code', 'bad_usage');
      expect(() => parseSecretsFile(text, 's.yaml')).not.to.throw(/sesame|122$|12345678/);
    });
  }

  const folder = new TemporaryFolder();
  after(() => folder.remove());

  it('is read when only its owner, or a group, may read it', async function () {
    if (platform() === 'win32') return this.skip();
    const file = folder.write('s.yaml', 'default: {TOKEN: sesame-22}');
    for (const mode of [0o644, 0o604, 0o660, 0o602]) {
      chmodSync(file, mode);
      const error = await catchRejection(readSecretsFile(file, 's.yaml'));
      expect(error).to.include({ code: 'unreadable_file' });
      expect(String(error)).to.match(/s\.yaml: others may read or change it: chmod 600/);
    }
    for (const mode of [0o600, 0o400, 0o440]) {
      chmodSync(file, mode);
      expect((await readSecretsFile(file)).find('default', 'TOKEN')).to.equal('sesame-22');
    }
  });
});

describe('Secrets of the environment (D61)', () => {
  it('belong to the tenants that may read them, and have names in capitals', () => {
    const secrets = environmentSecrets(
      { TOKEN: 'sesame-22', lower: 'x-1-2-3' },
      (tenant) => tenant === 'default',
    );
    expect(secrets.names).to.deep.equal(['TOKEN']);
    expect(secrets.find('default', 'TOKEN')).to.equal('sesame-22');
    expect(secrets.find('acme', 'TOKEN')).to.equal(undefined);
    expect(secrets.explain?.('acme', 'TOKEN')).to.include('add TOKEN under "acme"');
  });
});
