import { ToolError } from '../../common/errors.js';
import type { JsonObject } from '../../common/json/json.js';
import { DOCUMENT_LIMITS } from '../../common/limits.js';
import { type CellTypes, findTypeProblems } from '../document-formats/csv-cells.js';
import type { CsvReadOptions } from '../document-formats/csv.js';
import { DOCUMENT_FORMATS } from '../documents/document.js';
import { DOCUMENTS_SCHEMA, shapeOfRead } from '../documents/document-schemas.js';
import { loadDocuments, type LoadDocumentOptions } from '../documents/load-documents.js';
import { logScans, readImages } from '../documents/read-images.js';
import { parseLocally } from '../documents/local-parser.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { defineTool, type Tool } from '../tool.js';
import { CONNECTION_INPUT } from './files/places.js';

/**
 * Creates the tool that reads documents, from the allowed folders and from public addresses (D49, D51).
 *
 * @param limiter how many documents are in memory at once while they are read
 */
export function createIngestDocument(
  parse: LoadDocumentOptions['parse'],
  limiter: ConcurrencyLimiter = new ConcurrencyLimiter({ total: DOCUMENT_LIMITS.atOnce }),
): Tool {
  return defineTool({
    name: 'ingest_document',
    description:
      'Reads a text, Markdown, CSV, JSON, HTML, PDF, DOCX or XLSX file or an image, and returns its pages',
    inputs: {
      path: {
        required: true,
        description:
          'a file in one of the allowed folders, an object such as s3://bucket/key, an http or https URL, a document that was ' +
          'read before, a result of fetch_data, or a list of these',
      },
      format: {
        type: 'string',
        enum: ['auto', ...DOCUMENT_FORMATS],
        default: 'auto',
        description: 'the format; auto: by the content type, the ending and the first bytes',
      },
      columns: {
        type: 'object',
        default: {},
        format: 'column-types',
        description:
          'CSV: the types of columns, such as {"price": "number"}: string, integer, number, boolean or date; an empty ' +
          'cell is null, and any other that does not convert is an error',
      },
      decimal: {
        type: 'string',
        enum: ['.', ','],
        default: '.',
        description: 'CSV: the decimal sign of the numbers in "columns"',
      },
      delimiter: {
        type: 'string',
        default: null,
        description:
          'CSV: what stands between cells; null: the comma, semicolon or tab that the first line has',
      },
      ocr: {
        type: 'boolean',
        default: null,
        description:
          'let a language model read the text of images and of scanned pages of PDF, in one call for each; default: when ' +
          '"model" names one',
      },
      model: {
        type: 'string',
        default: null,
        format: 'model',
        description:
          'provider/model that reads them, such as openai/gpt-4o; default: WAVETRAIN_OCR_MODEL, then WAVETRAIN_MODEL',
      },
      connection: CONNECTION_INPUT,
      max_tokens: {
        type: 'integer',
        minimum: 1,
        default: 2048,
        description:
          'length limit of the text of an image or page in tokens; a text that reaches it fails the task',
      },
    },
    output: {
      name: 'document',
      description:
        'a document, or a list of several: source, format, title, filename, text, bytes, pages (number, text, ' +
        'is_scanned, sheet_name, metadata, image_bytes, image_mime; of a sheet also rows), page_count, is_scanned, ' +
        'source_url, metadata; CSV: columns and rows (objects by column); JSON: data; Markdown: sections (level, ' +
        'heading, text)',
      type: 'object',
      schema: DOCUMENTS_SCHEMA,
    },
    deriveOutput: ({ path }, shapeOf) => shapeOfRead(shapeOf(path)),
    usesModel: (written) => (isReadByModel(written) ? 'ocr' : undefined),
    async run(inputs, context) {
      const { path, format, columns, decimal, delimiter, model, max_tokens: maxTokens } = inputs;
      const csv: CsvReadOptions = {
        columns: parseTypes(columns),
        decimal,
        ...(delimiter !== null && { delimiter: parseDelimiter(delimiter) }),
      };
      const drawScans = isReadByModel(inputs);
      const connection = inputs.connection ?? undefined;
      const options = { format, csv, drawScans, connection, parse, limiter };
      let documents = await loadDocuments(path, options, context);
      if (drawScans)
        documents = await readImages(documents, { model: model ?? undefined, maxTokens }, context);
      else logScans(documents, context.log);
      const [first, ...others] = documents;
      return first !== undefined && others.length === 0 ? first : documents;
    },
  });
}

/** Returns true if a language model reads images, by the inputs as they are written or resolved: only when asked for. */
function isReadByModel({ ocr, model }: Readonly<Record<string, unknown>>): boolean {
  return ocr === true || (ocr !== false && typeof model === 'string');
}

/** Reads documents for the command line and the library. */
export const ingestDocument = createIngestDocument(parseLocally);

function parseTypes(columns: JsonObject): CellTypes {
  for (const { path, message, hint } of findTypeProblems(columns)) {
    throw ToolError.nonRetryable(`"columns" gives "${path.join('.')}" ${message}: ${hint}`);
  }
  return columns as CellTypes;
}

const MAX_DELIMITER_LENGTH = 10;

function parseDelimiter(delimiter: string): string {
  if (delimiter === '' || delimiter.length > MAX_DELIMITER_LENGTH || /["\r\n]/.test(delimiter))
    throw ToolError.nonRetryable(
      `"delimiter" is ${JSON.stringify(delimiter.slice(0, 20))}: use one to ${MAX_DELIMITER_LENGTH} characters, such as ";"`,
    );
  return delimiter;
}
