import { basename } from 'node:path';
import { ToolError } from '../../common/errors.js';
import type { Json } from '../../common/json/json.js';
import { applySchemaInSteps, describeSource } from '../files/export/apply-schema.js';
import { toCsvInSteps } from '../files/export/csv.js';
import { toJsonTextInSteps } from '../files/export/json-text.js';
import { listNotesInSteps, NOTE_COLUMNS, toMarkdownInSteps } from '../files/export/markdown.js';
import { CellMaker, type Table, toTableInSteps } from '../files/export/table.js';
import { parseJsonWithPauses } from '../fetching/content.js';
import { exactObject, FILE_SCHEMA, TEXT_SCHEMA } from '../schemas/output.js';
import { stripFence } from '../../definition/template/extract-json.js';
import { EXPORT_LIMITS, MAX_FILE_NAME_BYTES } from '../../common/limits.js';
import { type NamedTable, toXlsx } from '../files/export/xlsx.js';
import { assertFileName } from '../files/file-name.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { runForAttempt } from '../../common/scheduling/run-in-slices.js';
import {
  formatObjectUrl,
  isObjectUrl,
  type ObjectName,
  parseObjectName,
} from '../files/object-stores/object-url.js';
import { defineTool, type InputsOf, type ToolContext } from '../tool.js';
import type { WrittenArtifact } from '../files/artifacts.js';
import { encodeText, once } from './files/content.js';
import { CONNECTION_INPUT } from './files/places.js';
import { type TransferTarget, writeTarget } from './files/transfer.js';

/** The endings of the names of files; a name without any of them gets the first. */
const FORMATS = {
  json: { endings: ['.json'], mediaType: 'application/json' },
  csv: { endings: ['.csv'], mediaType: 'text/csv' },
  markdown: { endings: ['.md', '.markdown'], mediaType: 'text/markdown' },
  xlsx: {
    endings: ['.xlsx'],
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
  text: { endings: ['.txt'], mediaType: 'text/plain' },
} as const;

const FORMAT_NAMES = ['json', 'csv', 'markdown', 'xlsx', 'text'] as const;

type Format = (typeof FORMAT_NAMES)[number];

const inputs = {
  data: { description: 'the value to write; a text that is JSON counts as its value' },
  content: { description: 'the value to write when there is no data' },
  format: {
    type: 'string',
    enum: FORMAT_NAMES,
    default: null,
    description: 'the format of the file; default: by the ending of filename, or else markdown',
  },
  filename: {
    type: 'string',
    default: null,
    format: 'file-name',
    description:
      'the name of the file; default artifact. An object such as s3://bucket/report.xlsx is written to its store, and is no file of the run',
  },
  connection: CONNECTION_INPUT,
  schema: {
    type: 'object',
    default: null,
    description: 'the fields that are written: of load_schema, or a JSON Schema. Required ones must be there',
  },
  strict: { type: 'boolean', default: false, description: 'refuse fields that the schema does not declare' },
  periods: {
    type: 'list',
    default: null,
    description: 'Markdown: the columns of a list of objects, as texts or objects with label',
  },
  metadata: { type: 'object', default: null, description: 'Markdown and XLSX: what is said about the data' },
  analyst_notes: {
    default: null,
    description:
      'Markdown and XLSX: a text, or a list of texts or of objects with period, line_item and note',
  },
  sheets: {
    type: 'object',
    default: null,
    description: 'XLSX: the value of each sheet, by its name, in place of data',
  },
  delimiter: { type: 'string', enum: [',', ';', '\t', '|'], default: ',', description: 'CSV: between cells' },
  decimal: { type: 'string', enum: ['.', ','], default: '.', description: 'CSV: the decimal sign' },
  formulas: {
    type: 'boolean',
    default: false,
    description: "CSV: leave texts that begin like a formula as they are; otherwise they get a ' in front",
  },
  output_dir: {
    type: 'string',
    default: null,
    description: 'has no effect: run --artifacts names the folder, and a server has its own',
  },
} as const;

/** The inputs, with the name of the file without the ending that is added. */
interface ExportInputs extends InputsOf<typeof inputs> {
  readonly format: Format;
  readonly filename: string;
}

/**
 * The exports at work, in all runs: a table takes many times the memory of its data, and a workbook a thread besides. When
 * all places are taken, each tenant that has none may have one more, up to twice as many together (D25).
 */
const limiter = new ConcurrencyLimiter({ total: EXPORT_LIMITS.atOnce, guaranteed: 1 });

/** Writes a value to a file of the run, in one of several formats (D49, D63). */
export const exportFile = defineTool({
  name: 'export',
  description: 'Writes a value to a file of the run: JSON, CSV, Markdown, XLSX or text',
  inputs,
  output: {
    name: 'artifact',
    description:
      'status ("success"), format, filename, name, path, media_type, size; with a schema schema_source',
    type: 'object',
    schema: exactObject(
      {
        status: { const: 'success' },
        format: { enum: FORMAT_NAMES },
        filename: TEXT_SCHEMA,
        ...FILE_SCHEMA.properties,
        schema_source: TEXT_SCHEMA,
      },
      ['schema_source'],
    ),
  },
  async run(given, context) {
    const { filename, schema, output_dir: outputDir } = given;
    if (outputDir !== null) context.log('output_dir has no effect: run --artifacts names the folder');
    const object = filename !== null && isObjectUrl(filename) ? parseObjectName(filename) : undefined;
    const base = object === undefined ? filename || 'artifact' : basename(object.key);
    // Before endings are looked for: each look would copy megabytes.
    if (base.length > MAX_FILE_NAME_BYTES) assertFileName(base);
    const format = given.format ?? formatOf(base);
    const { endings, mediaType } = FORMATS[format];
    const name = hasEnding(base, format) ? base : base + endings[0];
    // Before the work: a workbook takes seconds.
    assertFileName(name);
    const makeBytes = (): Promise<string | Uint8Array> =>
      toBytes({ ...given, format, filename: base }, context);
    const written = await (object === undefined
      ? limiter.run(context, async () =>
          context.artifacts.write({ name, bytes: await makeBytes(), media_type: mediaType }),
        )
      : // Others do not wait for the store.
        writeObject(
          { ...object, key: object.key.slice(0, object.key.length - base.length) + name },
          await limiter.run(context, makeBytes),
          { mediaType, connection: given.connection ?? undefined },
          context,
        ));
    return {
      status: 'success',
      format,
      filename: base,
      ...written,
      ...(schema !== null && { schema_source: describeSource(schema) }),
    };
  },
});

/** Endings of formats that `export` does not write: a file that is named so would have another one. */
const UNSUPPORTED_ENDINGS =
  /\.(?:avro|docx?|html?|jsonl|ndjson|ods|odt|parquet|pdf|pptx?|sqlite|tsv|xls|xml|ya?ml|zip)$/i;

/** @throws ToolError, not retryable, for the ending of another format */
function formatOf(name: string): Format {
  const found = FORMAT_NAMES.find((each) => hasEnding(name, each));
  const [foreign] = UNSUPPORTED_ENDINGS.exec(name) ?? [];
  if (found !== undefined || foreign === undefined) return found ?? 'markdown';
  throw ToolError.nonRetryable(
    `export writes no ${foreign} files: end "filename" with .json, .csv, .md, .xlsx or .txt, or write "format"`,
  );
}

function hasEnding(name: string, format: Format): boolean {
  return FORMATS[format].endings.some((ending) => name.toLowerCase().endsWith(ending));
}

async function toBytes(given: ExportInputs, context: ToolContext): Promise<string | Uint8Array> {
  const { format, sheets, metadata, periods, analyst_notes: notes } = given;
  if (sheets !== null && format !== 'xlsx')
    throw ToolError.nonRetryable(`sheets are for the format xlsx, and not for ${format}`);
  if (format === 'xlsx') return await toWorkbook(given, context);
  const data = await prepare(given.data ?? given.content ?? null, given, context);
  if (format === 'csv') {
    const table = await runForAttempt(toTableInSteps(data), context);
    return await runForAttempt(toCsvInSteps(table, given), context);
  }
  if (format === 'markdown') {
    const options = { title: given.filename, periods, metadata, notes };
    return await runForAttempt(toMarkdownInSteps(data, options), context);
  }
  if (format === 'text' && typeof data === 'string') return data;
  return await runForAttempt(toJsonTextInSteps(data), context);
}

async function toWorkbook(given: ExportInputs, context: ToolContext): Promise<Uint8Array> {
  const { sheets, metadata, analyst_notes: notes, filename } = given;
  const values: [string, Json][] =
    sheets === null ? [[filename, given.data ?? given.content ?? null]] : Object.entries(sheets);
  if (values.length === 0) throw ToolError.nonRetryable('sheets must have at least one sheet');
  if (values.length > EXPORT_LIMITS.sheets)
    throw ToolError.nonRetryable(`a workbook may have ${EXPORT_LIMITS.sheets} sheets: write several files`);
  const cells = new CellMaker(EXPORT_LIMITS.cellLength);
  const layOut = (data: Json): Promise<Table> => runForAttempt(toTableInSteps(data, cells), context);
  const tables: NamedTable[] = [];
  for (const [name, value] of values)
    tables.push({ name, table: await layOut(await prepare(value, given, context)) });
  if (metadata !== null) tables.push({ name: 'Metadata', table: await layOut(metadata) });
  if (notes !== null) {
    const rows = await runForAttempt(listNotesInSteps(notes, cells), context);
    tables.push({ name: 'Notes', table: { columns: NOTE_COLUMNS, rows } });
  }
  return await toXlsx(tables, context);
}

/** Writes the file to a store instead. */
async function writeObject(
  object: ObjectName,
  bytes: string | Uint8Array,
  { mediaType, connection }: Pick<TransferTarget, 'mediaType' | 'connection'>,
  context: ToolContext,
): Promise<WrittenArtifact> {
  const url = formatObjectUrl(object);
  const place = { kind: 'object', object, url } as const;
  const target = { place, connection, mediaType, ifExists: 'replace' } as const;
  const size = Buffer.byteLength(bytes);
  context.holdMemory(size);
  const source = { size, pieces: typeof bytes === 'string' ? encodeText(bytes) : once(bytes) };
  const { path } = await writeTarget(source, target, context);
  return { name: basename(object.key), path, media_type: mediaType, size };
}

/** Reads a text that is JSON, perhaps as models write it, and applies the schema. */
async function prepare(
  value: Json,
  { schema, strict, format }: ExportInputs,
  context: ToolContext,
): Promise<Json> {
  const data = typeof value === 'string' && format !== 'text' ? await parseJsonText(value, context) : value;
  return schema === null ? data : await runForAttempt(applySchemaInSteps(data, schema, strict), context);
}

async function parseJsonText(text: string, context: ToolContext): Promise<Json> {
  const body = stripFence(text.trim());
  if (!body.startsWith('{') && !body.startsWith('[')) return text;
  try {
    return await parseJsonWithPauses(body, context);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    return text;
  }
}
