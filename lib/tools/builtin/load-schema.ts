import { basename } from 'node:path';
import { ToolError } from '../../common/errors.js';
import { describeKind, isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { MAX_SCHEMA_FIELDS, MAX_SCHEMA_LENGTH } from '../../common/limits.js';
import { ellipsize, joinFirst } from '../../common/text.js';
import { parseText } from '../../definition/text/parse-text.js';
import { decodeText, readError } from '../files/regular-file.js';
import { findColumns } from '../schemas/document-columns.js';
import {
  assertFieldCount,
  createField,
  readFields,
  type Schema,
  type SchemaField,
} from '../schemas/schema.js';
import { exactObject, FLAG_SCHEMA, TEXT_SCHEMA } from '../schemas/output.js';
import { hasOnlyTypes, literalOf, shapeOfLiteral, type ValueShape } from '../../definition/shapes/shape.js';
import { runLongWork } from '../../common/scheduling/run-in-slices.js';
import { defineTool, type Registries, type ToolContext } from '../tool.js';
import { CONNECTION_INPUT } from './files/places.js';

const NULLABLE_TEXT = { type: ['string', 'null'] } as const;

const FIELD_SCHEMA = exactObject({
  name: TEXT_SCHEMA,
  type_hint: NULLABLE_TEXT,
  required: FLAG_SCHEMA,
  description: NULLABLE_TEXT,
  computed: FLAG_SCHEMA,
  formula: NULLABLE_TEXT,
  sign_convention: NULLABLE_TEXT,
  section: NULLABLE_TEXT,
  cross_check: NULLABLE_TEXT,
  fallback_rule: NULLABLE_TEXT,
  manual_ref: NULLABLE_TEXT,
});

/** The schema of what is read from a file. */
const SCHEMA_SCHEMA = exactObject({
  fields: { type: 'array', items: FIELD_SCHEMA },
  source: TEXT_SCHEMA,
  raw: {},
  task_id: NULLABLE_TEXT,
});

/** Reads the schema of what is to be extracted from documents (D49). */
export const loadSchema = defineTool({
  name: 'load_schema',
  pure: true,
  description:
    'Reads the fields that documents are to be read for: from a file, a value, a document or by name',
  inputs: {
    source: {
      required: true,
      registry: 'schemas',
      description:
        'a .json, .yaml or .yml file in one of the allowed folders, or such an object, s3://bucket/key; the name of a registered schema; a list of names ' +
        'or fields; an object from names to types, or with fields; a document with columns; or a schema',
    },
    hint: {
      type: 'string',
      default: null,
      description: 'the description of fields that come from a document',
    },
    connection: CONNECTION_INPUT,
    task_id: { type: 'string', default: null, description: 'a text that the output repeats' },
  },
  output: {
    name: 'schema',
    description: 'fields (name, type_hint, required, description, …), source, raw and task_id',
    type: 'object',
    // A schema passes as it is.
    schema: { anyOf: [SCHEMA_SCHEMA, { type: 'object', properties: { fields: { type: 'array' } } }] },
  },
  deriveOutput: ({ source, task_id: taskId = null }, shapeOf, registries) =>
    typeof taskId === 'object' || !taskId.toString().includes('{{')
      ? shapeOfSchema(shapeOf(source), taskId, registries)
      : undefined,
  async run({ source, hint, connection, task_id: taskId }, context, registries) {
    const schema =
      typeof source === 'string'
        ? await loadNamed(source, connection ?? undefined, context, registries)
        : await readValue(source, hint, context);
    return taskId === null ? schema : { ...schema, task_id: taskId };
  },
});

/** The shape of what is loaded from a source; undefined for one that may be a schema itself, or a document. */
function shapeOfSchema(
  source: ValueShape,
  taskId: Json,
  registries: Registries | undefined,
): ValueShape | undefined {
  const value = literalOf(source);
  if (typeof value === 'string') {
    const registered = registries?.schemas.get(value);
    if (registered === undefined) return SCHEMA_SCHEMA;
    const raw = [...registered.fields];
    return shapeOfFields(raw, { source: value, raw, task_id: taskId });
  }
  if (typeof value !== 'object' || value === null)
    return hasOnlyTypes(source, ['string']) ? SCHEMA_SCHEMA : undefined;
  if (isSchema(value) || Object.hasOwn(value, 'pages') || Object.hasOwn(value, 'text')) return undefined;
  const kind = Array.isArray(value) ? 'list' : 'dict';
  return shapeOfFields(value, { source: kind, raw: value, task_id: taskId });
}

/** Fields that cannot be read have a problem of their own. */
function shapeOfFields(value: Json, others: JsonObject): ValueShape | undefined {
  try {
    return shapeOfLiteral({ fields: readFields(value, '"source"').map(toJson), ...others });
  } catch {
    return undefined;
  }
}

function toJson(field: SchemaField): JsonObject {
  return { ...field };
}

async function loadNamed(
  source: string,
  connection: string | undefined,
  context: ToolContext,
  registries: Registries | undefined,
): Promise<Schema> {
  const registered = registries?.schemas.get(source);
  if (registered !== undefined) {
    const raw = [...registered.fields];
    return { fields: readFields(raw, `the schema "${source}"`), source, raw, task_id: null };
  }
  if (/\.(json|ya?ml)$/i.test(source)) return await loadFile(source, connection, context);
  const names = [...(registries?.schemas.keys() ?? [])].sort();
  const known = names.length === 0 ? 'none is registered' : `the schemas are ${joinFirst(names, MAX_NAMES)}`;
  throw ToolError.nonRetryable(
    `there is no schema ${JSON.stringify(ellipsize(source, MAX_SHOWN))}: ${known}; name a .json, .yaml or .yml file, or pass the fields`,
  );
}

const MAX_NAMES = 20;
const MAX_SHOWN = 100;

async function loadFile(
  path: string,
  connection: string | undefined,
  { files }: ToolContext,
): Promise<Schema> {
  const { bytes } = await files.read(path, connection);
  const text = decodeText(bytes, path);
  if (text.length > MAX_SCHEMA_LENGTH)
    throw readError(path, `it is longer than ${MAX_SCHEMA_LENGTH / 1024} KiB, the limit for schemas`);
  const { value, problems } = parseText(text);
  const [problem] = problems.filter(({ severity }) => severity === 'error');
  if (problem !== undefined) {
    const at = problem.line === undefined ? '' : ` (line ${problem.line})`;
    throw readError(path, `${problem.message}${at}`);
  }
  // Plain data of YAML is JSON: its parser refuses tags.
  const raw = value as Json;
  return { fields: readFields(raw, `"${path}"`), source: basename(path), raw, task_id: null };
}

async function readValue(source: Json, hint: string | null, context: ToolContext): Promise<Schema> {
  if (isSchema(source)) return source;
  const columns = await runLongWork(context, () => findColumns(source));
  if (columns !== undefined) return readDocument(source, columns, hint);
  if (typeof source !== 'object' || source === null)
    throw ToolError.nonRetryable(`"source" is ${describeKind(source)}, not a file, a name or a schema`);
  const kind = Array.isArray(source) ? 'list' : 'dict';
  return { fields: readFields(source, '"source"'), source: kind, raw: source, task_id: null };
}

function readDocument(document: Json, columns: string[], hint: string | null): Schema {
  const source =
    isObject(document) && typeof document['source'] === 'string' ? document['source'] : 'document';
  if (columns.length === 0)
    throw ToolError.nonRetryable(`the document "${source}" has neither columns nor Markdown tables`);
  assertFieldCount(columns.length, `the document "${source}"`);
  const fields = columns.map((name) => createField(name, hint));
  return { fields, source, raw: columns, task_id: null };
}

/** Recognises what this tool gives, which passes through as it is. */
function isSchema(value: Json): value is Json & Schema {
  return (
    isObject(value) &&
    typeof value['source'] === 'string' &&
    Object.hasOwn(value, 'raw') &&
    Array.isArray(value['fields']) &&
    value['fields'].length <= MAX_SCHEMA_FIELDS &&
    value['fields'].every((field) => isObject(field) && typeof field['name'] === 'string')
  );
}
