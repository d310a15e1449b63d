import { expect } from 'chai';
import { describeLogic } from '../../../scripts/statecharts/describe.js';
import { layoutChart } from '../../../scripts/statecharts/layout.js';
import { drawStatecharts } from '../../../scripts/statecharts/statecharts.js';
import { drawSvg } from '../../../scripts/statecharts/svg.js';

describe('The drawings of the statecharts', () => {
  let drawings: Record<string, string>;

  before(async () => {
    drawings = await drawStatecharts();
  });

  it('are well-formed documents without a script, a style attribute or an address of another host', () => {
    for (const [path, svg] of Object.entries(drawings)) {
      expect(openElements(svg), path).to.deep.equal([]);
      expect(svg, path).to.not.match(/<script|style=|href|@import|NaN|undefined/);
      expect(svg.match(/https?:[^"]*/g), path).to.deep.equal(['http://www.w3.org/2000/svg']);
    }
  });

  it('say to readers who do not see them what states and transitions there are', () => {
    const run = drawings['docs/machines/run.svg'] ?? '';
    expect(run).to.include('role="img" aria-labelledby="title desc"');
    expect(run).to.include('<title id="title">Statechart: run</title>');
    const [, text = ''] = /<desc id="desc">([^<]*)</.exec(run) ?? [];
    expect(text).to.include('States: "queued", "running", "paused", "draining"');
    expect(text).to.include('the start leads to "queued";');
    expect(text).to.include('"queued" leads to "paused" on begin [pausesBeforeWave];');
    expect(text).to.include('"running" stays on wave.settled / beginWave;');
  });

  it('have the colours of a light and of a dark page', () => {
    for (const svg of Object.values(drawings)) {
      expect(svg).to.include('@media (prefers-color-scheme:dark)');
      expect(svg.split('</style>')[1]).to.not.match(/fill="|stroke="/);
    }
  });

  it('show names as text, whatever they contain', async () => {
    const states = { 'a<b>&"': { '<script>': { end: '1 < 2' } }, end: 'final' } as const;
    const svg = drawSvg(
      await layoutChart(describeLogic('odd', 'odd & <bold>', { initial: 'a<b>&"', states })),
    );
    expect(svg)
      .to.include('odd &amp; &lt;bold&gt;')
      .and.include('a&lt;b&gt;&amp;')
      .and.include('&lt;script&gt;');
    expect(svg).to.include('[1 &lt; 2]').and.not.include('<script>');
    expect(openElements(svg)).to.deep.equal([]);
  });
});

/** The elements that a document opens and does not close in order. */
function openElements(svg: string): string[] {
  const open: string[] = [];
  for (const [, slash, name = '', empty] of svg.matchAll(/<(\/?)(\w+)[^<>]*?(\/?)>/g)) {
    if (slash === '') open.push(name);
    if ((slash === '/' || empty === '/') && open.at(-1) === name) open.pop();
  }
  return open;
}
