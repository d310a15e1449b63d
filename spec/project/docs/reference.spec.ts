import { expect } from 'chai';
import { anchorsOf } from './markdown.js';
import { startTestServer } from '../../support/http/test-server.js';
import { filesBelow, read } from '../files.js';

/** A citation and the anchor it needs. */
interface Citation {
  readonly place: string;
  readonly anchor: string;
}

const FOLDERS = ['lib', 'machines', 'spec', 'scripts', 'bench'];
/** The specs of the documents mention numbers without citing them. */
const NOT_CITING = /^(?:spec\/project\/|lib\/definition\/generated\/)/;

/** The sections of the reference that number their own rules. */
const SECTION_RULE = /\b(Blackboard|Errors|Plan), rules? (\d+)(?: to (\d+))?/g;
const RULE = /\brules? (\d+)((?:, \d+|,? and \d+| to \d+)*)/g;
const DECISION = /\bD(\d{1,2})\b(?:[–-]D(\d{1,2})\b)?/g;
const LAW = /\blaws? (L\d)\b/g;

describe('The reference', () => {
  const cited = FOLDERS.flatMap((folder) => filesBelow(folder, '.ts'))
    .filter((file) => !NOT_CITING.test(file))
    .flatMap((file) => citationsIn(file));

  it('has the execution rules 1 to 13 and the decisions D1 to D72', () => {
    const anchors = anchorsOf('docs/reference.md');
    const wanted = [...range(1, 13).map((n) => `rule-${n}`), ...range(1, 72).map((n) => `d${n}`)];
    expect(wanted.filter((anchor) => !anchors.has(anchor))).to.deep.equal([]);
  });

  it('lists every metric', async () => {
    const server = await startTestServer();
    const { body } = await server.request<string>('GET', '/metrics');
    await server.close(0);
    const page = read('docs/reference/metrics.md');
    const names = [...body.matchAll(/^# TYPE (wavetrain_\w+)/gm)].map(([, name]) => name ?? '');
    expect(names).to.have.length.above(20);
    expect(names.filter((name) => !page.includes(`\`${name}`))).to.deep.equal([]);
  });

  it('has a heading for every citation, and CONTRIBUTING has one for every law', () => {
    const anchors = new Set([...anchorsOf('docs/reference.md'), ...anchorsOf('CONTRIBUTING.md')]);
    const lost = cited
      .filter(({ anchor }) => !anchors.has(anchor))
      .map(({ place, anchor }) => `${place} cites #${anchor}`);
    expect(lost).to.deep.equal([]);
    expect(cited.length).to.be.above(200);
  });

  it('is cited by lib or machines with every rule', () => {
    const anchors = new Set(
      cited.filter(({ place }) => /^(?:lib|machines)\//.test(place)).map(({ anchor }) => anchor),
    );
    const rules = range(1, 13).map((n) => `rule-${n}`);
    expect(rules.filter((anchor) => !anchors.has(anchor))).to.deep.equal([]);
  });

  it('marks no decision as missing that the code cites', () => {
    const sections = read('docs/reference.md').split(/^### /m);
    const absent = sections.flatMap((section) =>
      /^(D\d+)\n/.test(section) && /\. Not in this version\.\n/.test(section)
        ? [section.slice(0, section.indexOf('\n')).toLowerCase()]
        : [],
    );
    const kept = cited.filter(({ place, anchor }) => place.startsWith('lib/') && absent.includes(anchor));
    expect(kept).to.deep.equal([]);
  });
});

function citationsIn(file: string): Citation[] {
  const lines = read(file).split('\n');
  return lines.flatMap((line, index) => {
    const place = `${file}:${index + 1}`;
    return anchorsIn(line).map((anchor) => ({ place, anchor }));
  });
}

function anchorsIn(line: string): string[] {
  const sections = [...line.matchAll(SECTION_RULE)].flatMap(([, section = '', from, to]) =>
    range(Number(from), Number(to ?? from)).map((n) => `${section.toLowerCase()}-rule-${n}`),
  );
  const rules = [...line.replaceAll(SECTION_RULE, '').matchAll(RULE)].flatMap(([, first = '', more = '']) =>
    rulesIn(Number(first), more).map((n) => `rule-${n}`),
  );
  const decisions = [...line.matchAll(DECISION)].flatMap(([, from, to]) =>
    range(Number(from), Number(to ?? from)).map((n) => `d${n}`),
  );
  const laws = [...line.matchAll(LAW)].map(([, law = '']) => law.toLowerCase());
  return [...sections, ...rules, ...decisions, ...laws];
}

/** `rules 1 to 4, 7, 12` and `rules 5 and 6`. */
function rulesIn(first: number, more: string): number[] {
  const rules = [first];
  for (const [, word, digits] of more.matchAll(/(, | and |, and | to )(\d+)/g)) {
    const next = Number(digits);
    rules.push(...(word === ' to ' ? range((rules.at(-1) ?? next) + 1, next) : [next]));
  }
  return rules;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
