import type { JsonObject } from '../../../../common/json/json.js';
import {
  ANY_SHAPE,
  literalOf,
  shapeOfLiteral,
  unionOf,
  type ValueShape,
} from '../../../../definition/shapes/shape.js';
import { exactObject, FLAG_SCHEMA, INTEGER_SCHEMA, TEXT_SCHEMA } from '../../../schemas/output.js';
import { FIELD_NOT_FOUND } from '../../../schemas/schema.js';
import { readWantedFields } from './wanted-fields.js';

const PROVENANCE = exactObject({
  source: TEXT_SCHEMA,
  page: INTEGER_SCHEMA,
  quote: { type: ['string', 'null'] },
  verified: FLAG_SCHEMA,
});

/**
 * The shape of what `extract_fields` returns for a task: of fields that are known, their names and types; undefined for others.
 *
 * @param fields the shape of the input `schema`
 */
export function shapeOfFound(
  fields: ValueShape,
  { provenance = false, split = false, section_filter: section = null }: JsonObject,
): ValueShape | undefined {
  const known = readKnown(fields, typeof section === 'string' && !section.includes('{{') ? section : null);
  if (known === undefined) return undefined;
  // The lists of the parts of a document are joined, so that they may be longer than one may be.
  const isWhole = split === false;
  const properties = Object.fromEntries(
    Object.entries(known).map(([name, schema]) => [
      name,
      isWhole ? unionOf([schema, shapeOfLiteral(FIELD_NOT_FOUND)]) : ANY_SHAPE,
    ]),
  );
  const found = { type: 'object', properties, additionalProperties: false };
  if (provenance === false) return found;
  const places = Object.fromEntries(Object.keys(known).map((name) => [name, PROVENANCE]));
  const withPlaces = {
    type: 'object',
    properties: { fields: found, provenance: exactObject(places) },
    additionalProperties: false,
  };
  return provenance === true ? withPlaces : unionOf([found, withPlaces]);
}

/** The schemas of the wanted fields; undefined when they are not known before the run, or not valid. */
function readKnown(
  fields: ValueShape,
  section: string | null,
): Readonly<Record<string, JsonObject>> | undefined {
  const value = literalOf(fields);
  if (value === undefined) return undefined;
  try {
    return readWantedFields(value, section).schemas;
  } catch {
    return undefined;
  }
}
