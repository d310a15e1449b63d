import { assert, expect } from 'chai';
import readXlsxFile from 'read-excel-file/node';
import { ToolError } from '../../../../lib/common/errors.js';
import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { runToEnd, type Steps } from '../../../../lib/common/scheduling/steps.js';
import { exportFile } from '../../../../lib/tools/builtin/export.js';
import { applySchemaInSteps } from '../../../../lib/tools/files/export/apply-schema.js';
import { toCsvInSteps } from '../../../../lib/tools/files/export/csv.js';
import { toJsonTextInSteps } from '../../../../lib/tools/files/export/json-text.js';
import { toMarkdownInSteps } from '../../../../lib/tools/files/export/markdown.js';
import { toTableInSteps } from '../../../../lib/tools/files/export/table.js';
import { validateInputs } from '../../../../lib/tools/inputs/validate.js';
import { itTimed, measureCpuMs } from '../../../support/measuring/cpu-time.js';
import { catchRejection } from '../../../support/rejection.js';
import { type TestContext, toolContext } from '../../../support/tool-context.js';

async function exportWith(inputs: JsonObject): Promise<TestContext> {
  const checked = validateInputs(exportFile, inputs);
  assert(checked.ok);
  const context = toolContext();
  await exportFile.run(checked.inputs, context);
  return context;
}

const TIMES = 300;
const repeat = (value: Json): Json[] => new Array<Json>(TIMES).fill(value);
const repeatInObject = (value: Json): JsonObject =>
  Object.fromEntries(repeat(value).map((each, index) => [`m${index}`, each]));

/** 300 KiB as JSON. */
const LIST = new Array<Json>(150_000).fill(1);
const TEXT = 'x'.repeat(300_000);
/** As much in fewer values, which take a fifth of the time. */
const LINES = new Array<Json>(3000).fill('x'.repeat(97));

const IN_CELLS = /^the text of all cells is longer than 64 MiB: export less, or in several files$/;

const CSV_OPTIONS = { delimiter: ',', decimal: '.', formulas: false };
const MARKDOWN_OPTIONS = { title: 't', periods: null, metadata: null, notes: null };

function countSteps(steps: Steps<unknown>): number {
  let count = 0;
  while (steps.next().done !== true) count++;
  return count;
}

describe('export of data that contains one large value many times (D25, D63)', () => {
  for (const [title, inputs] of Object.entries<JsonObject>({
    'notes of Markdown': { data: 1, format: 'markdown', analyst_notes: repeat(LINES) },
    'metadata of Markdown': { data: 1, format: 'markdown', metadata: repeatInObject(LINES) },
    'periods of Markdown': { data: repeat({ a: 1 }), format: 'markdown', periods: repeat(TEXT) },
    'an object in Markdown': { data: repeatInObject(LINES), format: 'markdown' },
    'rows of CSV': { data: repeat(LIST).map((a) => ({ a })), format: 'csv' },
    'texts in rows of CSV': { data: repeat(TEXT), format: 'csv' },
    'several inputs': {
      data: repeat(TEXT).slice(150),
      format: 'markdown',
      analyst_notes: repeat(TEXT).slice(150),
    },
  })) {
    itTimed(`is refused before the text of all cells is made: ${title}`, async () => {
      let error: unknown;
      const cpuMs = await measureCpuMs(async () => (error = await catchRejection(exportWith(inputs))));
      expect(error).to.be.instanceOf(ToolError).and.include({ retryable: false });
      expect(error).to.have.property('message').that.matches(IN_CELLS);
      expect(cpuMs).to.be.below(10_000);
    });
  }

  for (const [title, inputs] of Object.entries<JsonObject>({
    notes: { data: 1, analyst_notes: repeat(LIST) },
    metadata: { data: 1, metadata: repeatInObject(LIST) },
    data: { data: repeat(LIST).map((a) => ({ a })) },
  })) {
    it(`is refused for a workbook at its first long cell: ${title}`, async () => {
      const error = await catchRejection(exportWith({ ...inputs, format: 'xlsx' }));
      expect(error)
        .to.have.property('message')
        .that.matches(/^a cell of a workbook may have 32767 characters, and a list or an object has more/);
    });
  }

  it('counts the cells of all sheets together while it lays them out', async () => {
    const rows = new Array<Json>(300_000).fill(null);
    const sheets = Object.fromEntries(Array.from({ length: 255 }, (_, index) => [`s${index}`, rows]));
    const error = await catchRejection(exportWith({ sheets, format: 'xlsx' }));
    expect(error).to.have.property('message').that.contains('more than 4000000 cells and rows');
  });

  it('picks the fields of an object once, however often the data contains it', () => {
    const object = Object.fromEntries(LIST.slice(0, 2000).map((value, index) => [`k${index}`, value]));
    const fields = Object.keys(object).slice(1);
    const picked = runToEnd(applySchemaInSteps(repeat(object), { fields }, false)) as JsonObject[];
    expect(new Set(picked).size).to.equal(1);
    expect(Object.keys(picked[0] ?? {})).to.deep.equal(fields);
  });

  it('is made and written in steps of letters, not of cells', () => {
    const data = new Array<Json>(30).fill(LIST);
    const letters = 30 * 300_000;
    const table = runToEnd(toTableInSteps(data.map((a) => ({ a }))));
    const most = letters / (128 * 1024);
    expect(countSteps(toTableInSteps(data.map((a) => ({ a }))))).to.be.above(most);
    expect(countSteps(toCsvInSteps(table, CSV_OPTIONS))).to.be.above(most);
    expect(countSteps(toMarkdownInSteps(1, { ...MARKDOWN_OPTIONS, notes: data }))).to.be.above(2 * most);
    const long = '"\n'.repeat(letters / 2);
    expect(countSteps(toCsvInSteps({ columns: [], rows: [[long]] }, CSV_OPTIONS))).to.be.above(most);
    expect(countSteps(toMarkdownInSteps({ long }, MARKDOWN_OPTIONS))).to.be.above(most);
    expect(countSteps(toJsonTextInSteps([long]))).to.be.above(most);
    expect(countSteps(toJsonTextInSteps({ [long]: 1 }))).to.be.above(most);
    expect(countSteps(toJsonTextInSteps(long))).to.be.above(most);
  });

  it('looks at a long list in steps before it lays it out', () => {
    expect(countSteps(toTableInSteps([...Array.from({ length: 1_000_000 }, () => ({})), 1]))).to.be.above(
      540,
    );
  });
});

describe('A long text that export writes in pieces (D63)', () => {
  const PIECE = 16 * 1024;
  /** Long texts whose pieces would end inside of a letter or a line break, at one place or another. */
  const texts = ['😀', '\r\n', '\r', '"', '\\|', ' ', 'a,b', '\ud800', '='].flatMap((part) =>
    [0, 1].map((shift) => 'x'.repeat(shift) + part.repeat(PIECE + 10)),
  );

  it('is the same JSON as that of JSON.stringify', () => {
    for (const text of texts) {
      for (const data of [text, [text], { [text]: text }] as Json[]) {
        expect(runToEnd(toJsonTextInSteps(data)) === JSON.stringify(data, null, 2)).to.equal(true);
        expect(runToEnd(toJsonTextInSteps(data, 'compact')) === JSON.stringify(data)).to.equal(true);
      }
    }
  });

  it('has in CSV and Markdown what a short text has', () => {
    for (const text of [
      ...texts,
      'x'.repeat(3 * PIECE),
      ` ${'x'.repeat(3 * PIECE)}`,
      `${'x'.repeat(3 * PIECE)} `,
    ]) {
      const isFormula = text.startsWith('=') || text.startsWith('\r');
      const written = isFormula ? `'${text}` : text;
      const isQuoted = /[",\r\n]|^\s|\s$/.test(written);
      const cell = isQuoted ? `"${written.replaceAll('"', '""')}"` : written;
      const csv = runToEnd(toCsvInSteps({ columns: undefined, rows: [[text, 1]] }, CSV_OPTIONS));
      expect(csv === `${cell},1\r\n`, JSON.stringify(text.slice(0, 5))).to.equal(true);
      const escaped = text
        .replaceAll('\\', '\\\\')
        .replaceAll(/\r\n?|\n/g, '<br>')
        .replaceAll('|', '\\|');
      const markdown = runToEnd(toMarkdownInSteps({ a: text }, MARKDOWN_OPTIONS));
      expect(markdown.endsWith(`| a | ${escaped} |\n`), JSON.stringify(text.slice(0, 5))).to.equal(true);
    }
  });

  it('is sent to the thread of a workbook in parts, also inside of a row', async () => {
    const wide = Array.from({ length: 12_000 }, (_, index) => index);
    const long = Array.from({ length: 10 }, (_, index) => `${index}${'y'.repeat(30_000)}`);
    const keys = Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`key ${index}`, index]));
    const sheets: JsonObject = {
      wide: [wide, [], wide, long, [1]],
      long: long.map((text) => [text]),
      keys: [keys],
    };
    const context = await exportWith({ format: 'xlsx', sheets });
    const read = await readXlsxFile(Buffer.from(context.written[0]?.bytes as Uint8Array));
    const rows = read.map(({ data }) => data.map((row) => row.filter((cell) => cell !== null)));
    expect(rows).to.deep.equal([
      [wide, [], wide, long, [1]],
      long.map((text) => [text]),
      [Object.keys(keys), Object.values(keys)],
    ]);
  });
});

describe('The name of a file that export writes (D63)', () => {
  itTimed('is refused before megabytes of it are looked at', async () => {
    let error: unknown;
    const filename = 'Ä'.repeat(9_000_000);
    const cpuMs = await measureCpuMs(async () => (error = await catchRejection(exportWith({ filename }))));
    expect(error)
      .to.have.property('message')
      .that.matches(/^a file cannot be called "Ä+…": it has 9000000 characters, and 200 bytes are allowed$/);
    expect(cpuMs).to.be.below(250);
  });
});
