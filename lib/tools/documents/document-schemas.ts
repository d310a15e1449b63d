import { hasOnlyTypes, literalOf, type ValueShape } from '../../definition/shapes/shape.js';
import { exactObject, FLAG_SCHEMA, INTEGER_SCHEMA, TEXT_SCHEMA } from '../schemas/output.js';
import { DOCUMENT_FORMATS } from './document.js';

const NULLABLE_TEXT = { type: ['string', 'null'] } as const;

const LIST = { type: 'array' } as const;

const PAGE = exactObject(
  {
    number: INTEGER_SCHEMA,
    text: TEXT_SCHEMA,
    is_scanned: FLAG_SCHEMA,
    sheet_name: NULLABLE_TEXT,
    metadata: { type: 'object' },
    image_bytes: {
      type: ['object', 'null'],
      properties: { path: TEXT_SCHEMA, media_type: TEXT_SCHEMA, size: INTEGER_SCHEMA },
      additionalProperties: false,
    },
    image_mime: NULLABLE_TEXT,
    rows: { type: 'array', items: LIST },
  },
  ['rows'],
);

/** The schema of a document that was read from a file. */
const DOCUMENT = exactObject(
  {
    source: TEXT_SCHEMA,
    format: { enum: DOCUMENT_FORMATS },
    title: TEXT_SCHEMA,
    filename: TEXT_SCHEMA,
    text: TEXT_SCHEMA,
    bytes: INTEGER_SCHEMA,
    pages: { type: 'array', items: PAGE },
    page_count: INTEGER_SCHEMA,
    is_scanned: FLAG_SCHEMA,
    source_url: NULLABLE_TEXT,
    metadata: { type: 'object' },
    columns: { type: 'array', items: TEXT_SCHEMA },
    rows: { type: 'array', items: { type: 'object' } },
    data: {},
    sections: {
      type: 'array',
      items: exactObject({ level: INTEGER_SCHEMA, heading: TEXT_SCHEMA, text: TEXT_SCHEMA }),
    },
  },
  ['columns', 'rows', 'data', 'sections'],
);

/** Documents and pages of others pass as they are, whatever their fields. */
const FOREIGN = { type: 'object' } as const;

/** The schema of what `ingest_document` returns. */
export const DOCUMENTS_SCHEMA = {
  anyOf: [DOCUMENT, FOREIGN, { type: 'array', items: { anyOf: [DOCUMENT, FOREIGN] } }],
} as const;

/** The shape of what is read from paths of a shape; undefined when they may be documents, or one or several. */
export function shapeOfRead(paths: ValueShape): ValueShape | undefined {
  const value = literalOf(paths);
  if (Array.isArray(value)) {
    if (!value.every((path) => typeof path === 'string')) return undefined;
    return value.length === 1 ? DOCUMENT : { type: 'array', items: DOCUMENT, maxItems: value.length };
  }
  return hasOnlyTypes(paths, ['string', 'null']) ? DOCUMENT : undefined;
}

/** The schema of the pages of one document that were selected. */
const PAGE_LIST = exactObject({
  parent_source: {},
  parent_format: {},
  pages: {
    type: 'array',
    items: { anyOf: [PAGE, FOREIGN] },
  },
  selector_prompt: TEXT_SCHEMA,
  metadata: { type: 'object' },
  source: {},
  format: {},
  filename: {},
});

/** The schema of what `select` returns. */
export const SELECTION_SCHEMA = { anyOf: [PAGE_LIST, { type: 'array', items: PAGE_LIST }] } as const;

/** The shape of what is selected from documents of a shape; undefined when they may be one or several. */
export function shapeOfSelected(documents: ValueShape): ValueShape | undefined {
  return hasOnlyTypes(documents, ['string', 'object', 'null']) ? PAGE_LIST : undefined;
}
