import { expect } from 'chai';
import { checkPipeline } from '../../lib/pipelines/check.js';
import { compileTemplate } from '../../lib/definition/template/template.js';
import type { Scope } from '../../lib/definition/template/scope.js';
import type { JsonObject } from '../../lib/json.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { defineTool, type Tool } from '../../lib/tools/tool.js';
import { type Fence, fencesOf, tableRows } from './markdown.js';
import { documents, read } from './project.js';

const GUIDE = 'docs/pipelines.md';

describe('The pipelines in the documents', () => {
  const blocks = documents().flatMap((file) => fencesOf(file).filter(({ language }) => language === 'yaml'));

  it('are many', () => {
    expect(blocks.length).to.be.above(15);
  });

  for (const block of blocks) {
    const { invalid, warns } = block.info;
    const verdict = invalid ?? warns ?? 'nothing';
    it(`${block.file}:${block.line} has ${verdict} to be told`, () => {
      const { ok, problems } = check(block);
      expect(ok, JSON.stringify(problems)).to.equal(invalid === undefined);
      expect(problems.map(({ code }) => code)).to.deep.equal(verdict === 'nothing' ? [] : [verdict]);
    });
  }
});

describe('Writing pipelines', () => {
  const scope = scopeOf(fencesOf(GUIDE).find(({ info }) => info['scope'] !== undefined)?.text ?? '{}');
  const rows = tableRows(sectionOf('Templates')).map((cells) =>
    cells.map((cell) => cell.replaceAll('`', '')),
  );

  it('shows every form of a template', () => {
    expect(rows.length).to.be.above(20);
  });

  for (const [template = '', result = ''] of rows) {
    it(`says rightly that ${template} gives ${result}`, () => {
      expect(compileTemplate(template).template.render(scope)).to.deep.equal(JSON.parse(result));
    });
  }

  it('explains every code of a problem', () => {
    const codes = tableRows(sectionOf('What validate says')).map(([code = '']) => code.replaceAll('`', ''));
    expect(codes.sort()).to.deep.equal(membersOf('lib/definition/problem.ts', 'ProblemCode').sort());
  });
});

describe('The library guide', () => {
  it('lists every code of an error', () => {
    const codes = tableRows(read('docs/library.md')).map(([code = '']) => code.replaceAll('`', ''));
    expect(codes.sort()).to.deep.equal(membersOf('lib/errors.ts', 'ErrorCode').sort());
  });
});

/** A list of tasks counts as a pipeline; `tools=NAME` stands for a tool that the document defines. */
function check({ text, info }: Fence): ReturnType<typeof checkPipeline> {
  const isList = /^- /m.exec(text)?.index === text.search(/^[^#\s]/m);
  const definition = isList
    ? `id: shown\ngoal: be shown\ntasks:\n${text.replaceAll(/^(?=.)/gm, '  ')}`
    : text;
  return checkPipeline(definition, { catalog: builtinCatalog().with(standIns(info['tools'])) });
}

function standIns(name: string | undefined): Tool[] {
  if (name === undefined) return [];
  return [defineTool({ name, description: 'stands in', inputs: {}, openInputs: true, run: () => null })];
}

function sectionOf(heading: string): string {
  return read(GUIDE).split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

function scopeOf(json: string): Scope {
  const { outputs, ...rest }: Omit<Scope, 'output'> & { outputs: JsonObject } = JSON.parse(json);
  return { ...rest, output: (taskId) => outputs[taskId] };
}

/** The words of `export type NAME = 'a' | 'b';`. */
function membersOf(file: string, name: string): string[] {
  const declaration = new RegExp(`export type ${name} =([^;]*);`).exec(read(file))?.[1] ?? '';
  return [...declaration.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
}
