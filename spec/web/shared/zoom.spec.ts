import { expect } from 'chai';
import {
  leastScale,
  OWN_SIZE,
  scaleOf,
  stepZoom,
  toggleFit,
  wheelZoom,
  zoomByKey,
} from '../../../web/shared/model/zoom.js';

const ROOM = { width: 600, height: 300 };
const CHART = { smallest: 0.45, largest: 1.2 };

describe('The zoom of a drawing', () => {
  for (const [name, zoom, drawing, limits, scale] of [
    ['is the chosen one', 0.7, { width: 6000, height: 100 }, OWN_SIZE, 0.7],
    ['is 1 for a graph that nobody has zoomed', 'auto', { width: 6000, height: 100 }, OWN_SIZE, 1],
    ['fits a graph by its width', 'fit', { width: 6000, height: 100 }, OWN_SIZE, 0.1],
    ['fits a graph by its height', 'fit', { width: 100, height: 600 }, OWN_SIZE, 0.5],
    ['makes no graph larger than it is to fit', 'fit', { width: 100, height: 100 }, OWN_SIZE, 1],
    ['fits a statechart, even larger than it is', 'auto', { width: 500, height: 100 }, CHART, 1.2],
    [
      'scrolls a statechart whose labels would be too small',
      'auto',
      { width: 6000, height: 100 },
      CHART,
      0.45,
    ],
    ['is that of an empty drawing without a division by nothing', 'fit', { width: 0, height: 0 }, CHART, 1.2],
  ] as const) {
    it(name, () => {
      expect(scaleOf(zoom, drawing, ROOM, limits)).to.equal(scale);
    });
  }

  it('has a scale before the room was measured', () => {
    expect(scaleOf('fit', { width: 100, height: 100 }, { width: 0, height: 0 }, OWN_SIZE)).to.equal(1);
  });

  it('goes from any scale to the next one, and stays at both ends', () => {
    const up: number[] = [];
    for (let scale = 0.3; up.at(-1) !== scale || up.length === 0; scale = stepZoom(scale, 1, 0))
      up.push(scale);
    expect(up).to.deep.equal([0.3, 0.35, 0.5, 0.7, 0.85, 1, 1.25, 1.6]);
    expect(stepZoom(0.3, -1, 0)).to.equal(0.2);
    expect(stepZoom(0.03, -1, 0)).to.equal(0.03);
    expect(stepZoom(0.03, 1, 0)).to.equal(0.05);
  });

  it('shrinks nothing below half of what fits, by the button, the key and the wheel', () => {
    const least = leastScale({ width: 1200, height: 300 }, ROOM, OWN_SIZE);
    expect(least).to.equal(0.25);
    expect(stepZoom(0.35, -1, least)).to.equal(0.25);
    expect(stepZoom(0.25, -1, least)).to.equal(0.25);
    expect(zoomByKey('-', 'auto', 0.35, least)).to.equal(0.25);
    expect(wheelZoom(0.26, 100, least)).to.equal(0.25);
    // A scale that is smaller already stays as it is.
    expect([stepZoom(0.1, -1, least), wheelZoom(0.1, 100, least)]).to.deep.equal([0.1, 0.1]);
  });

  it('follows the wheel: a pinch by little, a click of a mouse by more, never beyond the largest', () => {
    expect(wheelZoom(1, -2, 0)).to.be.closeTo(1.02, 0.001);
    expect(wheelZoom(1, 2, 0)).to.be.closeTo(0.98, 0.001);
    expect(wheelZoom(1, 120, 0)).to.be.closeTo(0.74, 0.001);
    expect(wheelZoom(1.5, -120, 0)).to.equal(1.6);
  });

  it('follows the keys + and = for larger, - for smaller, and 0 for fit and back', () => {
    expect(['+', '=', '-', '0', 'a'].map((key) => zoomByKey(key, 'auto', 1, 0))).to.deep.equal([
      1.25,
      1.25,
      0.85,
      'fit',
      undefined,
    ]);
    expect([toggleFit('fit'), toggleFit(0.5)]).to.deep.equal(['auto', 'fit']);
  });
});
