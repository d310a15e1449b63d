import { expect } from 'chai';
import { checkPipeline } from '../../lib/pipelines/check.js';
import { compileTemplate } from '../../lib/definition/template/template.js';
import type { Scope } from '../../lib/definition/template/scope.js';
import { STATUS_OF_CODE } from '../../lib/http/error-status.js';
import type { JsonObject } from '../../lib/json.js';
import { SERVER_VARIABLES } from '../../lib/server-config.js';
import { builtinCatalog } from '../../lib/tools/catalog.js';
import { defineTool, type Tool } from '../../lib/tools/tool.js';
import { type Fence, fencesOf, tableRows } from './markdown.js';
import { documents, read } from './project.js';

const GUIDE = 'docs/pipelines.md';
const HTTP = 'docs/http.md';

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
  it('lists every code of an error, with that of the HTTP interface', () => {
    const listed = [...codesIn('docs/library.md'), ...rowsOfHttpErrors().map(({ code }) => code)];
    expect([...new Set(listed)].sort()).to.deep.equal(membersOf('lib/errors.ts', 'ErrorCode').sort());
  });
});

describe('The guide to the HTTP interface', () => {
  it('lists every error that a server answers, with its status (D32)', () => {
    const local = ['unreadable_file', 'bad_usage', 'bad_tool_file', 'server_unreachable'];
    const answered = Object.entries(STATUS_OF_CODE).filter(([code]) => !local.includes(code));
    expect(rowsOfHttpErrors()).to.have.deep.members(answered.map(([code, status]) => ({ code, status })));
  });

  it('lists every variable of the server, with its default', () => {
    const rows = tableRows(sectionOf('Configuration', HTTP)).map(([name = '', fallback = '']) => ({
      name: name.replaceAll('`', ''),
      fallback,
    }));
    const known = SERVER_VARIABLES.map(({ name, description }) => ({
      name,
      fallback: /; default (.*)$/.exec(description)?.[1] ?? '',
    }));
    expect(rows).to.include.deep.members(known);
  });
});

function rowsOfHttpErrors(): { code: string; status: number }[] {
  return tableRows(sectionOf('Errors', HTTP)).map(([code = '', status = '']) => ({
    code: code.replaceAll('`', ''),
    status: Number(status),
  }));
}

function codesIn(file: string): string[] {
  return tableRows(read(file)).map(([code = '']) => code.replaceAll('`', ''));
}

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

function sectionOf(heading: string, file: string = GUIDE): string {
  return read(file).split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
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
