import { expect } from 'chai';
import { basename, dirname } from 'node:path';
import { isTestFile } from '../../../lib/common/files.js';
import { readSource } from '../../../lib/definition/text/source.js';
import { checkTestFile } from '../../../lib/testing/pipelines/test-file.js';
import { detectKindOfText } from '../../../lib/definition/schema/root.js';
import type { Problem } from '../../../lib/definition/problems/problem.js';
import { checkPipeline } from '../../../lib/pipelines/check.js';
import { checkPlan } from '../../../lib/plans/check.js';
import type { PipelineInput } from '../../../lib/plans/plan.js';
import { compileTemplate } from '../../../lib/definition/template/template.js';
import type { TemplateScope } from '../../../lib/definition/template/scope.js';
import { ERROR_STATUSES } from '../../../lib/http/errors/error-statuses.js';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineFunction } from '../../../lib/tools/builtin/compute/function.js';
import { type CatalogEntry, defineTool } from '../../../lib/tools/tool.js';
import { type Fence, fencesOf, tableRows } from './markdown.js';
import { documents, read } from '../files.js';

const GUIDE = 'docs/pipelines.md';
const ERRORS = 'docs/reference/errors.md';

describe('The pipelines and plans in the documents', () => {
  const blocks = documents().flatMap((file) => fencesOf(file).filter(({ language }) => language === 'yaml'));

  it('are more than a handful', () => {
    expect(blocks.length).to.be.above(15);
  });

  for (const block of blocks) {
    const { invalid, warns } = block.info;
    const verdict = invalid ?? warns ?? 'nothing';
    it(`${block.file}:${block.line} is reported with ${verdict}`, () => {
      const { ok, problems } = check(block);
      expect(ok, JSON.stringify(problems)).to.equal(invalid === undefined);
      const codes = verdict === 'nothing' ? [] : verdict.split(',');
      expect(problems.map(({ code }) => code)).to.deep.equal(codes);
    });
  }
});

describe('The guide to pipelines', () => {
  const scope = scopeOf(fencesOf(GUIDE).find(({ info }) => info['scope'] !== undefined)?.text ?? '{}');
  const rows = tableRows(sectionOf('Templates')).map((cells) =>
    cells.map((cell) => cell.replaceAll('`', '')),
  );

  it('shows every form of a template', () => {
    expect(rows.length).to.be.above(20);
  });

  for (const [template = '', result = ''] of rows) {
    it(`is right that ${template} renders as ${result}`, () => {
      expect(compileTemplate(template).template.render(scope)).to.deep.equal(JSON.parse(result));
    });
  }

  it('leads to a list of every problem code', () => {
    const rows = tableRows(sectionOf('What validate says', 'docs/reference/problems.md'));
    const codes = new Set(rows.map(([code = '']) => code.replaceAll('`', '')));
    expect([...codes].sort()).to.deep.equal(membersOf('lib/common/wire/problem.ts', 'Code').sort());
  });
});

describe('The list of error codes', () => {
  it('has every code', () => {
    const listed = tableRows(read(ERRORS)).map(([code = '']) => code.replaceAll('`', ''));
    expect([...new Set(listed)].sort()).to.deep.equal(membersOf('lib/common/errors.ts', 'ErrorCode').sort());
  });

  it('has every error response with its status (D32)', () => {
    const expected = Object.entries(ERROR_STATUSES).map(([code, { status }]) => ({ code, status }));
    expect(rowsOfHttpErrors()).to.have.deep.members(expected);
  });
});

function rowsOfHttpErrors(): { code: string; status: number }[] {
  return tableRows(sectionOf('Errors', ERRORS)).map(([code = '', status = '']) => ({
    code: code.replaceAll('`', ''),
    status: Number(status),
  }));
}

/** Treats a list of tasks as a pipeline; `tools=NAME` and `functions=NAME` stand for what the document defines. */
function check(fence: Fence): { readonly ok: boolean; readonly problems: readonly Problem[] } {
  const { text, info } = fence;
  if (isTestFile(info['file'] ?? '')) {
    const tests = checkTestFile(readSource(text), undefined);
    return { ok: tests.ok, problems: tests.ok ? [] : tests.problems };
  }
  if (detectKindOfText(text) === 'plan') {
    return checkPlan(text, { catalog: builtinCatalog(), pipelines: savedBeside(fence) });
  }
  const isList = /^- /m.exec(text)?.index === text.search(/^[^#\s]/m);
  const definition = isList
    ? `id: shown\ngoal: be shown\ntasks:\n${text.replaceAll(/^(?=.)/gm, '  ')}`
    : text;
  return checkPipeline(definition, { catalog: builtinCatalog().with(missingRunFiles(info)) });
}

/** The blocks that the document saves beside a plan, by file name without extension. */
function savedBeside({ file, info }: Fence): Map<string, PipelineInput> {
  if (info['file'] === undefined) return new Map();
  const folder = dirname(info['file']);
  const saved = fencesOf(file).flatMap(({ text, info: { file: name = '' } }): [string, PipelineInput][] =>
    name !== info['file'] && name.endsWith('.yaml') && dirname(name) === folder
      ? [[basename(name, '.yaml'), { text, file: basename(name) }]]
      : [],
  );
  return new Map(saved);
}

function missingRunFiles({ tools, functions }: Fence['info']): CatalogEntry[] {
  const standIn = { description: 'stands in', inputs: {}, openInputs: true, run: () => null };
  return [
    ...(tools === undefined ? [] : [defineTool({ ...standIn, name: tools })]),
    ...(functions === undefined ? [] : [defineFunction({ ...standIn, name: functions })]),
  ];
}

function sectionOf(heading: string, file: string = GUIDE): string {
  return read(file).split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

function scopeOf(json: string): TemplateScope {
  const { outputs, ...rest }: Omit<TemplateScope, 'output'> & { outputs: JsonObject } = JSON.parse(json);
  return { ...rest, output: (taskId) => outputs[taskId] };
}

/** Reads the members of `export type NAME = 'a' | 'b';`. */
function membersOf(file: string, name: string): string[] {
  const code = read(file).replaceAll(/\/\/.*/g, '');
  const declaration = new RegExp(`^(?:export )?type ${name} =([^;]*);`, 'm').exec(code)?.[1] ?? '';
  return [...declaration.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
}
