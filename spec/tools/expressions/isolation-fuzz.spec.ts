import { expect } from 'chai';
import { fuzzIsolation } from './fuzz.js';
import { PROBE_COUNT } from './probes.js';

describe('Random expressions of one run', () => {
  it(`change no answer of ${PROBE_COUNT} probes that follow them (npm run fuzz:expressions tries more)`, () => {
    const options = { seed: 1, count: 1000, probeEvery: 100, timeoutMs: 60_000 };
    const { evaluated, succeeded, differences } = fuzzIsolation(options);
    expect(differences).to.deep.equal([]);
    expect(evaluated).to.equal(1000);
    expect(succeeded).to.be.greaterThan(100);
  });
});
