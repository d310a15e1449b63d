import { errorMessage } from '../../../../common/errors.js';
import { isObject, type Json, type JsonObject } from '../../../../common/json/json.js';
import { nearest } from '../../../../definition/did-you-mean.js';
import type { FormatProblem } from '../../../tool.js';
import { findSchemaErrors, HINTED_TYPES, isJsonSchema, readWantedFields } from './wanted-fields.js';

const FORMS =
  'write a list such as [buyer, price], types such as {price: number}, or a JSON Schema with properties; or pass what load_schema gives';

/** Finds what is wrong with the fields of a document as they are written. Nothing is certain where a template is. */
export function* findFieldProblems(schema: Json): Generator<FormatProblem> {
  if (JSON.stringify(schema).includes('{{')) return;
  if (typeof schema === 'string') {
    yield { path: [], message: 'is a text, not the fields', hint: FORMS };
    return;
  }
  if (isJsonSchema(schema)) {
    for (const { path, message } of findSchemaErrors(schema.properties).errors)
      yield { path, message, hint: 'write a JSON Schema, such as {type: number}' };
    return;
  }
  try {
    readWantedFields(schema, null);
  } catch (error) {
    yield { path: [], message: `cannot be used: ${errorMessage(error)}`, hint: FORMS };
    return;
  }
  yield* findTypeProblems(schema);
}

/** A hint that is not the name of a type is words for the model; one that is nearly such a name is a mistake. */
function* findTypeProblems(schema: Json): Generator<FormatProblem> {
  const base = isObject(schema) && Array.isArray(schema['fields']) ? ['fields'] : [];
  const fields = base.length > 0 ? (schema as JsonObject)['fields'] : schema;
  if (typeof fields !== 'object' || fields === null) return;
  for (const [key, field] of Object.entries(fields)) {
    const path = [...base, Array.isArray(fields) ? Number(key) : key];
    if (typeof field === 'string') {
      if (!Array.isArray(fields)) yield* findTypeProblem(field, path);
    } else if (isObject(field)) {
      const name = field['type_hint'] == null ? 'type' : 'type_hint';
      const hint = field[name];
      if (typeof hint === 'string') yield* findTypeProblem(hint, [...path, name]);
    }
  }
}

function* findTypeProblem(hint: string, path: FormatProblem['path']): Generator<FormatProblem> {
  const word = hint.trim().toLowerCase();
  const names = Object.keys(HINTED_TYPES);
  if (names.some((name) => word === name || word === `${name}s`)) return;
  const meant = nearest(word, names);
  // Other words begin otherwise: "date" is no misspelt "text".
  if (meant === undefined || word.length < 4 || word.slice(0, 2) !== meant.slice(0, 2)) return;
  yield { path, message: `is ${JSON.stringify(hint)}, which is no type`, hint: `did you mean "${meant}"?` };
}
