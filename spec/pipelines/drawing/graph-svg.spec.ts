import { expect } from 'chai';
import { Parser } from 'htmlparser2';
import { renderSvg } from '../../../lib/pipelines/drawing/graph-svg.js';
import type { Graph } from '../../../lib/pipelines/drawing/graph.js';
import { itTimed, measureCpuMsSync } from '../../support/measuring/cpu-time.js';

const task = (id: string, tool = 'mock', fan_out = false): Graph['waves'][number][number] => ({
  id,
  tool,
  fan_out,
});

const SMALL: Graph = {
  id: 'demo',
  goal: 'draw',
  waves: [[task('list'), task('other')], [task('each', 'mock', true)]],
  edges: [
    { from: 'list', to: 'each', kind: 'template' },
    { from: 'other', to: 'each', kind: 'await' },
  ],
};

describe('The SVG of a graph', () => {
  const svg = renderSvg(SMALL);

  it('shows waves, tasks with their tools, solid and dashed edges, and a fan-out as a stack (rules 1, 5, 6 and 7)', () => {
    const { texts, elements } = parse(svg);
    expect(texts).to.include.members(['wave 1', 'wave 2', 'list', 'other', 'each', 'mock']);
    const classes = elements.map(({ attributes }) => attributes['class']);
    expect(classes.filter((name) => name === 'edge')).to.have.length(1);
    expect(classes.filter((name) => name === 'edge await')).to.have.length(1);
    expect(svg.split('<g class="box">').map((part) => part.split('<rect').length - 1)).to.deep.equal([
      3, 1, 1, 3,
    ]);
    expect(texts).to.include.members(['each reads list', 'each awaits other']);
  });

  it('needs nothing else: no script, no link, no address but the name of its format', () => {
    expect(svg.match(/\w+:\/\/[^"]*/g)).to.deep.equal(['http://www.w3.org/2000/svg']);
    const { elements } = parse(svg);
    const names = new Set(elements.map(({ name }) => name));
    expect([...names].sort()).to.deep.equal(['desc', 'g', 'path', 'rect', 'style', 'svg', 'text', 'title']);
    const attributes = new Set(elements.flatMap((element) => Object.keys(element.attributes)));
    expect([...attributes].filter((name) => /^on|href|src|^style$/.test(name))).to.deep.equal([]);
    expect(svg).not.to.match(/url\(|@import/);
  });

  it('has colours for light and dark pages', () => expect(svg).to.contain('prefers-color-scheme:dark'));

  it('shows hostile names as text', () => {
    const evil = '"><script>alert(1)</script><!-- & \u0000\u202e\ud800';
    const drawn = renderSvg({
      id: evil,
      goal: evil,
      waves: [[task(evil, evil)], [task('end')]],
      edges: [{ from: evil, to: 'end', kind: 'template' }],
    });
    const { elements, texts } = parse(drawn);
    expect(elements.map(({ name }) => name)).not.to.include('script');
    expect(texts).to.include('end reads "><script>alert(1)</script><!-- & \\u0000\\u202e\\ud800');
    // oxlint-disable-next-line no-control-regex -- looks for control characters on purpose
    expect(drawn).not.to.match(/[\u0000-\u0008\u202a-\u202e]/);
  });

  it('cuts a long id in its middle, and shows it whole under the pointer', () => {
    const id = `extract_${'orders_'.repeat(15)}2024`;
    const { texts } = parse(renderSvg({ ...SMALL, waves: [[task(id)]], edges: [] }));
    expect(texts).to.include(`${id} · mock`);
    expect(texts.find((text) => text.includes('…'))).to.match(/^extract_.*…\w*2024$/);
    const wide = parse(renderSvg({ ...SMALL, waves: [[task('幅'.repeat(100))]], edges: [] })).texts;
    expect(wide.find((text) => text.includes('…'))?.length).to.be.below(15);
  });

  itTimed(
    'draws 5,000 boxes and 10,000 edges at most, says what is left out, and draws 2,000 tasks in less than a second',
    () => {
      const large = (count: number): Graph => {
        const waves = [0, 1].map((wave) =>
          Array.from({ length: count / 2 }, (_, index) => task(`${wave}-${index}`)),
        );
        const edges = Array.from({ length: 12_000 }, (_, index) => {
          return {
            from: `0-${index % 100}`,
            to: `1-${(index * 7) % (count / 2)}`,
            kind: 'template' as const,
          };
        });
        return { id: 'large', goal: '', waves, edges };
      };
      expect(measureCpuMsSync(() => void renderSvg(large(2000)))).to.be.below(1000);
      const drawn = renderSvg(large(6000));
      expect(drawn.split('<g class="box">')).to.have.length(5001);
      expect(parse(drawn).texts).to.include.members([
        'and 1,000 more that are not drawn',
        'and 2,000 more edges that are not drawn',
      ]);
    },
  );
});

interface Parsed {
  readonly elements: { readonly name: string; readonly attributes: Record<string, string> }[];
  readonly texts: string[];
}

function parse(xml: string): Parsed {
  const parsed: Parsed = { elements: [], texts: [] };
  let text = '';
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        parsed.elements.push({ name, attributes });
        text = '';
      },
      ontext: (part) => void (text += part),
      onclosetag: () => {
        if (text.trim() !== '') parsed.texts.push(text);
        text = '';
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return parsed;
}
