import { expect } from 'chai';
import { RunSecrets, type SecretSource } from '../../../lib/definition/secrets/run-secrets.js';

const source: SecretSource = { find: (_, name) => `value-of-${name}` };

const need = (count: number) =>
  new Map(
    Array.from({ length: count }, (_, index) => [`S${index}`, { tasks: new Set(['t']), isOptional: false }]),
  );

describe('The secrets of a run (D61)', () => {
  it('stay as they were when there would be too many, so that none can be read that is not masked', () => {
    const secrets = new RunSecrets(source, 'default');
    secrets.add(need(2));
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => secrets.add(need(101))).to.throw('a run can read 100 secrets; this one reads 101');
    }
    expect(Object.keys(secrets.values ?? {})).to.deep.equal(['S0', 'S1']);
    expect([...(secrets.digests?.keys() ?? [])]).to.deep.equal(['S0', 'S1']);
    expect(secrets.mask('value-of-S1 value-of-S2')).to.equal('*** value-of-S2');
  });

  it('are all masked after each addition', () => {
    const secrets = new RunSecrets(source, 'default');
    secrets.add(need(2));
    secrets.add(need(100));
    expect(secrets.mask('value-of-S1 value-of-S99')).to.equal('*** ***');
  });
});
