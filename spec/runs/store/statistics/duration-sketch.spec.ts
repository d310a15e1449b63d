import { expect } from 'chai';
import fc from 'fast-check';
import { DurationSketch } from '../../../../lib/runs/store/statistics/duration-sketch.js';
import { cases } from '../../../support/measuring/cases.js';
import { exactQuantile } from './statistics-suite.js';

/** From no time to a year. */
const durations = fc.array(
  fc.oneof(fc.nat(40), fc.nat(100_000), fc.integer({ min: 0, max: 31_536_000_000 })),
  { maxLength: 60 },
);

function sketchOf(list: readonly number[]): DurationSketch {
  const sketch = new DurationSketch();
  for (const ms of list) sketch.add(ms);
  return sketch;
}

describe('The sketch of durations (D74)', () => {
  it('estimates any share of the durations within 5 %', () => {
    fc.assert(
      fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
        const estimate = sketchOf(list).quantile(share);
        const exact = exactQuantile(list, share);
        if (estimate === null || exact === null) expect(estimate).to.equal(exact);
        else expect(Math.abs(estimate - exact)).to.be.at.most(0.05 * exact);
      }),
      cases(300),
    );
  });

  it('estimates every single duration within 5 %, and up to 13 ms exactly', () => {
    for (let ms = 0; ms < 2_000_000; ms += ms < 1000 ? 1 : 997) {
      const estimate = sketchOf([ms]).quantile(0.5) ?? -1;
      expect(Math.abs(estimate - ms)).to.be.at.most(ms < 14 ? 0 : 0.05 * ms);
    }
  });

  it('is the same when parts are merged as when all is counted in one', () => {
    fc.assert(
      fc.property(fc.array(durations, { maxLength: 5 }), (parts) => {
        const merged = new DurationSketch();
        for (const part of parts) merged.merge(sketchOf(part).encode());
        const whole = sketchOf(parts.flat());
        expect(merged.encode()).to.deep.equal(whole.encode());
        expect(merged.quantile(0.95)).to.equal(whole.quantile(0.95));
      }),
      cases(100),
    );
  });

  it('keeps counts of any size', () => {
    let encoded = sketchOf([0, 5000, 5000]).encode();
    for (let doubled = 0; doubled < 50; doubled++) {
      const sketch = new DurationSketch();
      for (let copy = 0; copy < 2; copy++) sketch.merge(encoded);
      encoded = sketch.encode();
    }
    const sketch = new DurationSketch();
    sketch.merge(encoded);
    expect(sketch.encode()).to.deep.equal(encoded);
    expect(sketch.quantile(0.33)).to.equal(0);
    expect(sketch.quantile(0.34)).to.be.closeTo(5000, 250);
    // The bucket of 5,000 ms is the 91st: one byte, and eight for 2^51 durations.
    expect(encoded.length).to.equal(1 + 8 + 1 + 8);
  });

  it('takes two bytes for each bucket with a few durations', () => {
    expect(sketchOf([0, 0, 1, 3, 9]).encode()).to.deep.equal(Uint8Array.of(0, 2, 1, 1, 12, 1, 11, 1));
    expect(sketchOf([]).encode()).to.deep.equal(new Uint8Array());
    expect(sketchOf([]).quantile(0.5)).to.equal(null);
  });
});
