import { expect } from 'chai';
import * as fc from 'fast-check';
import { WavetrainError } from '../../../lib/common/errors.js';
import { type KeyScope, networksOfTenants } from '../../../lib/http/auth/authenticate.js';
import {
  formatKeyEntry,
  parseKeysFile,
  createApiKey,
  readKeysFile,
} from '../../../lib/http/auth/keys-file.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const HASH = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const ADA = `- {name: ada, sha256: "${HASH}", tenants: [default]}`;

function errorFor(text: string): string {
  try {
    parseKeysFile(text, 'keys.yaml');
  } catch (error) {
    if (error instanceof WavetrainError && error.code === 'bad_usage') return error.message;
    throw error;
  }
  return 'no error';
}

describe('The keys file (D37)', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  it('lists keys with their tenants and scopes; scopes default to read and run', async () => {
    const file = folder.write(
      'keys.yaml',
      `# ours\n${ADA}\n- name: Zoë ☂\n  sha256: "${OTHER.toUpperCase()}"\n  tenants: ['*']\n  scopes: [metrics]\n`,
    );
    expect(await readKeysFile(file)).to.deep.equal([
      { name: 'ada', sha256: HASH, tenants: ['default'], scopes: ['read', 'run'] },
      { name: 'Zoë ☂', sha256: OTHER, tenants: ['*'], scopes: ['metrics'] },
    ]);
  });

  it('allow private networks to the tenants of a key, and those of "*" to every one (D51)', () => {
    const entry = (name: string, hash: string, tenants: string, networks: string): string =>
      `- {name: ${name}, sha256: "${hash.repeat(32)}", tenants: [${tenants}], allow_networks: [${networks}]}\n`;
    const keys = parseKeysFile(
      entry('a', 'aa', 'acme, globex', '10.2.0.0/16') +
        entry('b', 'bb', 'acme', '"erp.internal:8443"') +
        entry('c', 'cc', '"*"', 'wiki.internal') +
        `- {name: d, sha256: "${'dd'.repeat(32)}", tenants: [initech]}\n`,
      'keys.yaml',
    );
    const networksOf = networksOfTenants(keys);
    expect(networksOf('acme')).to.deep.equal(['wiki.internal', '10.2.0.0/16', 'erp.internal:8443']);
    expect(networksOf('globex')).to.deep.equal(['wiki.internal', '10.2.0.0/16']);
    expect(networksOf('initech')).to.deep.equal(['wiki.internal']);
    expect(networksOf('unknown')).to.deep.equal(['wiki.internal']);
    expect(networksOf('acme')).to.equal(networksOf('acme'));
    expect(networksOfTenants([])('acme')).to.deep.equal([]);
  });

  const WRONG: [what: string, text: string, message: RegExp][] = [
    ['is empty', ' \n', /keys\.yaml: it contains no keys: `wavetrain keys new`/],
    ['lists nothing', '[]', /line 1: it contains no keys/],
    ['is a map', `keys:\n${ADA}`, /line 1: it must be a list of keys/],
    ['is no YAML', '- name: "ada', /line 1: not YAML/],
    ['has two documents', `${ADA}\n---\n${ADA}`, /more than one YAML document/],
    ['is nested too deeply', '['.repeat(10_000), /the file is nested deeper/],
    ['lists words', `${ADA}\n- ada`, /line 2: key 2 must be a map/],
    [
      'has an unknown field',
      `${ADA}\n- name: x\n  tenant: [a]`,
      /line 3: there is no field "tenant": did you mean tenants\?/,
    ],
    ['has the key itself', `- key: wt_secret\n  name: x`, /line 1: .*must not contain the key itself/],
    ['has __proto__', `- __proto__: {name: x}`, /there is no field "__proto__"/],
    ['has a field twice', `- name: a\n  name: b`, /line 2/],
    ['has no name', `- sha256: "${HASH}"`, /line 1: name is missing/],
    [
      'has a name that is a number',
      `- {name: 12, sha256: "${HASH}", tenants: [a]}`,
      /name must be text, not 12/,
    ],
    ['has a name of spaces', `- {name: " ", sha256: "${HASH}", tenants: [a]}`, /name must not be empty/],
    ['has a name that breaks the line', String.raw`- name: "a\nb"`, /cannot be printed/],
    ['has a name that turns the line around', String.raw`- name: "a\u202Eb"`, /cannot be printed/],
    ['has a name without end', `- name: ${'a'.repeat(129)}`, /longer than 128/],
    ['has no hash', '- name: a', /sha256 is missing/],
    ['has a short hash', `- {name: a, sha256: "${HASH.slice(1)}"}`, /64 hexadecimal digits/],
    ['has a hash of other letters', `- {name: a, sha256: "${'x'.repeat(64)}"}`, /64 hexadecimal digits/],
    ['has a hash that YAML takes for a number', `- {name: a, sha256: ${'12'.repeat(32)}}`, /line 1/],
    [
      'allows a network that is none',
      `${ADA.slice(0, -1)}, allow_networks: [10.2.0.0/99]}`,
      /line 1: allow_networks must list networks, .*"10\.2\.0\.0\/99" is none; its prefix must be/,
    ],
    [
      'allows one network without a list',
      `${ADA.slice(0, -1)}, allow_networks: 10.2.0.0/16}`,
      /allow_networks must be a list/,
    ],
    [
      'allows a number',
      `${ADA.slice(0, -1)}, allow_networks: [10]}`,
      /allow_networks must list texts, not 10/,
    ],
    ['has no tenants', `- {name: a, sha256: "${HASH}"}`, /tenants is missing.*"\*" for all of them/],
    [
      'has an empty list of tenants',
      `- {name: a, sha256: "${HASH}", tenants: []}`,
      /tenants must not be empty/,
    ],
    ['has one tenant without a list', `- {name: a, sha256: "${HASH}", tenants: b}`, /tenants must be a list/],
    [
      'has * beside another tenant',
      `- {name: a, sha256: "${HASH}", tenants: [b, "*"]}`,
      /must be the only entry/,
    ],
    [
      'has a tenant that none can be',
      `- {name: a, sha256: "${HASH}", tenants: ["b c"]}`,
      /"b c" is not a tenant/,
    ],
    ['has a tenant that is a number', `- {name: a, sha256: "${HASH}", tenants: [12]}`, /12 is not a tenant/],
    [
      'has an unknown scope',
      `- {name: a, sha256: "${HASH}", tenants: [b], scopes: [rum]}`,
      /no scope "rum": did you mean run/,
    ],
    [
      'has a far scope',
      `- {name: a, sha256: "${HASH}", tenants: [b], scopes: [everything]}`,
      /the scopes are read, run, edit, metrics/,
    ],
    [
      'has scopes that are null',
      `- {name: a, sha256: "${HASH}", tenants: [b], scopes: }`,
      /scopes must be a list, not null/,
    ],
    [
      'has a name twice',
      `${ADA}\n- {name: ada, sha256: "${OTHER}", tenants: [b]}`,
      /line 2: keys 1 and 2 have the same name/,
    ],
    [
      'has a hash twice',
      `${ADA}\n- {name: b, sha256: "${HASH.toUpperCase()}", tenants: [b]}`,
      /line 2: .*same sha256/,
    ],
  ];

  for (const [what, text, message] of WRONG) {
    it(`is rejected when it ${what}; the message names the file and the line`, () => {
      expect(errorFor(text))
        .to.match(/^the keys file keys\.yaml[,:]/)
        .and.match(message);
    });
  }

  it('is rejected without repeating an invalid hash, which may be the key', () => {
    expect(errorFor('- {name: a, sha256: wt_secret, tenants: [b]}')).not.to.contain('wt_secret');
  });

  it('is named in the error when it cannot be read', async () => {
    for (const file of [
      folder.at('none.yaml'),
      folder.path,
      folder.write('latin1.yaml', Buffer.from([0xe9])),
    ]) {
      const error = await catchRejection(readKeysFile(file));
      expect(error).to.be.instanceOf(WavetrainError).with.property('code', 'unreadable_file');
      expect(error).to.have.property('message').that.contains(file);
    }
  });

  it('reads back every entry that formatKeyEntry writes', () => {
    const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    const lists = fc.uniqueArray(fc.constantFrom<KeyScope>('read', 'run', 'metrics'), { minLength: 1 });
    fc.assert(
      fc.property(names, fc.uint8Array({ minLength: 32, maxLength: 32 }), lists, (name, bytes, scopes) => {
        fc.pre(name.trim() !== '' && !/[\p{C}\p{Zl}\p{Zp}]/u.test(name));
        const { sha256 } = createApiKey(bytes);
        const entry = { name, sha256, tenants: ['*'], scopes };
        expect(parseKeysFile(formatKeyEntry(entry), 'entry')).to.deep.equal([entry]);
      }),
    );
  });
});
