import { isObject, type Json, type JsonObject, setOwn } from '../../../../common/json/json.js';
import { runLongWork } from '../../../../common/scheduling/run-in-slices.js';
import type { Steps } from '../../../../common/scheduling/steps.js';
import { FIELD_NOT_FOUND } from '../../../schemas/schema.js';
import type { ToolContext } from '../../../tool.js';
import type { Reading } from '../../../answers/json-answer.js';
import type { SourcePage } from './source-pages.js';
import type { WantedFields } from './wanted-fields.js';

/** Where a value was found. */
export interface Provenance {
  readonly source: string;
  readonly page: number;
  /** The words of the page; null when the model gave none. */
  readonly quote: string | null;
  /** True when the words of the quote are on the page. */
  readonly verified: boolean;
}

/** The fields of one answer, and where those were found that were. */
export interface FoundFields {
  readonly fields: JsonObject;
  readonly provenance: Readonly<Record<string, Provenance>>;
}

/** The form of the answer that a model is asked for, and how it is read. */
interface AnswerShape {
  readonly schema: JsonObject;
  readonly instruction: string;
  readonly read: (answer: Json) => Reading<Claims>;
  readonly locate: (
    claims: Claims,
    pages: readonly SourcePage[],
    context: ToolContext,
  ) => Promise<FoundFields>;
}

/** The fields, and what the model says of where they are: `{page, quote}` by field. */
interface Claims {
  readonly fields: JsonObject;
  readonly sources: Readonly<Record<string, unknown>>;
}

/** Asks for the fields alone. */
export function withoutProvenance(wanted: WantedFields): AnswerShape {
  return {
    schema: objectOf(wanted.schemas),
    instruction: 'Answer with one JSON object: each field by its name, null where the pages do not say it.',
    read: (answer) => {
      const reading = wanted.read(answer);
      return reading.ok ? { ok: true, value: { fields: reading.value, sources: {} } } : reading;
    },
    locate: ({ fields }) => Promise.resolve({ fields, provenance: {} }),
  };
}

/** Asks for the fields, and for the page and the words of each. */
export function withProvenance(wanted: WantedFields): AnswerShape {
  const source = objectOf({ page: { type: ['integer', 'null'] }, quote: { type: ['string', 'null'] } });
  const sources = objectOf(Object.fromEntries(wanted.names.map((name) => [name, source])));
  return {
    schema: objectOf({ fields: objectOf(wanted.schemas), sources }),
    instruction:
      'Answer with one JSON object: {"fields": each field by its name, null where the pages do not say it, "sources": for ' +
      'each field that you found {"page": the number of its page, "quote": the words there, exactly as they stand, at ' +
      'most a line}}.',
    read: (answer) => {
      if (!isObject(answer) || !isObject(answer['fields']))
        return { ok: false, problems: ['the answer must be an object with "fields" and "sources"'] };
      const reading = wanted.read(answer['fields']);
      if (!reading.ok) return reading;
      const claimed = isObject(answer['sources']) ? answer['sources'] : {};
      return { ok: true, value: { fields: reading.value, sources: claimed } };
    },
    locate: (claims, pages, context) => runLongWork(context, () => locateAll(claims, pages)),
  };
}

function objectOf(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  return {
    type: 'object',
    properties: { ...properties },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** Looks up what the model quotes: on the page that it names, and else on all. */
function* locateAll({ fields, sources }: Claims, pages: readonly SourcePage[]): Steps<FoundFields> {
  const plain: string[] = [];
  for (const { text } of pages) {
    plain.push(normalize(text));
    yield;
  }
  const provenance: Record<string, Provenance> = {};
  for (const name of Object.keys(fields)) {
    const claim = Object.hasOwn(sources, name) ? sources[name] : undefined;
    const found = fields[name] === FIELD_NOT_FOUND ? undefined : locate(claim, pages, plain);
    if (found !== undefined) setOwn(provenance, name, found);
    yield;
  }
  return { fields, provenance };
}

/** Of a quote that is looked for: searching takes the product of the lengths in the worst case. */
const MAX_QUOTE_LENGTH = 200;

function locate(
  claim: unknown,
  pages: readonly SourcePage[],
  plain: readonly string[],
): Provenance | undefined {
  const { page: number, quote: words } = isObject(claim) ? claim : {};
  const quote = typeof words === 'string' && words.trim() !== '' ? words.slice(0, MAX_QUOTE_LENGTH) : null;
  const named = pages.findIndex((page) => page.number === number);
  const sought = quote === null ? '' : normalize(quote);
  const isOnPage = (position: number): boolean => plain[position]?.includes(sought) === true;
  const position =
    quote === null || (named >= 0 && isOnPage(named))
      ? named
      : pages.findIndex((_, other) => isOnPage(other));
  const page = pages[position >= 0 ? position : named];
  if (page === undefined) return undefined;
  return { source: page.source, page: page.number, quote, verified: quote !== null && position >= 0 };
}

/** Models change blanks, and the case of letters. */
function normalize(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().toLowerCase();
}

/**
 * Joins the answers about the parts of a document, in steps: the first value that was found counts, lists are joined.
 *
 * @param log is called with the fields that the parts say different things of
 */
export function* mergeParts(
  names: readonly string[],
  answers: readonly FoundFields[],
  log: (message: string) => void,
): Steps<FoundFields> {
  const [only] = answers;
  if (only !== undefined && answers.length === 1) return only;
  const fields: JsonObject = {};
  const provenance: Record<string, Provenance> = {};
  for (const name of names) {
    const finds = answers.filter((answer) => answer.fields[name] !== FIELD_NOT_FOUND);
    const values = finds.map((answer) => answer.fields[name] as Json);
    const areLists = values.length > 0 && values.every(Array.isArray);
    const [value = FIELD_NOT_FOUND] = values;
    setOwn(fields, name, areLists ? values.flat(1) : value);
    const [first] = finds.filter((answer) => Object.hasOwn(answer.provenance, name));
    if (first !== undefined) setOwn(provenance, name, first.provenance[name]);
    if (new Set(values.map((value) => JSON.stringify(value))).size > 1 && !values.every(Array.isArray))
      log(`the parts of the document give different values of ${JSON.stringify(name)}: took the first one`);
    yield;
  }
  return { fields, provenance };
}
