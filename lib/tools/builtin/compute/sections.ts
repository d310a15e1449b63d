import { ToolError } from '../../../common/errors.js';
import { isObject, type Json, type JsonObject, setOwn } from '../../../common/json/json.js';
import { MAX_FUNCTION_TEXT } from '../../../common/limits.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import { defineFunction, runWithPausesIfLong } from './function.js';
import { numberOf, SegmentLabels } from './segment-labels.js';
import { ArgumentReader, isFound, StepMeter, withFields, RECORDS_INPUT } from './values.js';
import { exactObject, TEXT_SCHEMA } from '../../schemas/output.js';

/** How often the number of a placeholder is added to a key that another field has: each time, all of the key is read. */
const MAX_NUMBERS_ADDED = 8;

const FIELDS_OUTPUT = {
  name: 'fields',
  description: 'one object per period',
  type: 'array',
  schema: { type: 'array', items: { type: 'object' } },
} as const;

export const applySegmentNames = defineFunction({
  name: 'apply_segment_names',
  pure: true,
  description: 'Puts the names of segments in place of [1], [2] and so on in the names of fields',
  inputs: {
    extracted_fields: RECORDS_INPUT,
    segment_names: {
      required: true,
      description:
        'names by placeholder, such as {"[1]": "Google Services"}, or by a key that ends in one or has another sign, such ' +
        'as {"segment [2]": "Cloud", "R&D": "Research"}; or a text with that',
    },
  },
  output: FIELDS_OUTPUT,
  run: ({ extracted_fields: records, segment_names: names }, context) =>
    runWithPausesIfLong(context, renameSegments(records, names)),
});

function* renameSegments(records: Json, names: Json): Steps<JsonObject[]> {
  const args = new ArgumentReader();
  const labels = new SegmentLabels(args.readObject(names));
  const meter = new StepMeter();
  const renamed: JsonObject[] = [];
  for (const record of args.readRecords(records)) {
    renamed.push(yield* renameFields(record, labels, meter));
    if (meter.isOverAfterRecord()) yield;
  }
  return renamed;
}

/**
 * Renames the fields of a record. Where another field has the new key, the number of the placeholder is added to it.
 *
 * @throws ToolError, not retryable, when too many fields have keys that are alike
 */
function* renameFields(record: JsonObject, labels: SegmentLabels, meter: StepMeter): Steps<JsonObject> {
  const entries = Object.entries(record);
  const taken = new Set<string>();
  const firsts: string[] = [];
  for (const [key] of entries) {
    const first = labels.rename(key);
    if (first === key) taken.add(key);
    firsts.push(first);
    if (meter.isOverAfterField(key)) yield;
  }
  const renamed: JsonObject = {};
  for (const [i, [key, value]] of entries.entries()) {
    const first = firsts[i] ?? key;
    const name = first === key ? key : findFree(first, numberOf(key), taken);
    taken.add(name);
    setOwn(renamed, name, value);
    if (meter.isOverAfterField(key)) yield;
  }
  return renamed;
}

function findFree(first: string, number: string, taken: ReadonlySet<string>): string {
  let name = first;
  for (let added = 0; taken.has(name); added++) {
    if (added === MAX_NUMBERS_ADDED)
      throw ToolError.nonRetryable(
        `more than ${MAX_NUMBERS_ADDED} fields have keys such as "${first.slice(0, 100)}": give the segments other names`,
      );
    name += `_${number}`;
  }
  return name;
}

export const assembleExtractionSections = defineFunction({
  name: 'assemble_extraction_sections',
  pure: true,
  description:
    'Joins the fields of the sections of a report by period; the first value that was found counts',
  inputs: {
    face: { default: [], description: `of the income statement: ${RECORDS_INPUT.description}` },
    segments: { default: [], description: 'of the segments, likewise' },
    other_income: { default: [], description: 'of other income, likewise' },
    per_share: { default: [], description: 'of the amounts per share, likewise' },
  },
  output: FIELDS_OUTPUT,
  run: ({ face, segments, other_income: otherIncome, per_share: perShare }, context) =>
    runWithPausesIfLong(context, joinSections([face, segments, otherIncome, perShare])),
});

function* joinSections(sections: readonly Json[]): Steps<JsonObject[]> {
  const lists = sections.map(new ArgumentReader().readRecords);
  const meter = new StepMeter();
  const joined: JsonObject[] = [];
  const count = Math.max(...lists.map(({ length }) => length));
  for (let i = 0; i < count; i++) {
    const fields: JsonObject = {};
    for (const list of lists) {
      for (const [key, value] of Object.entries(list[i] ?? {})) {
        const isFree = !Object.hasOwn(fields, key) || (!isFound(fields[key]) && isFound(value));
        if (isFree) setOwn(fields, key, value);
        if (meter.isOverAfterField(key)) yield;
      }
    }
    joined.push(fields);
    if (meter.isOverAfterRecord()) yield;
  }
  return joined;
}

export const finalizeExtraction = defineFunction({
  name: 'finalize_extraction',
  pure: true,
  description: 'Puts corrections over extracted fields by period; what the correction did not find stays',
  inputs: {
    base_fields: RECORDS_INPUT,
    corrections: { required: true, description: 'the corrected fields, likewise' },
  },
  output: FIELDS_OUTPUT,
  run: ({ base_fields: base, corrections }, context) =>
    runWithPausesIfLong(context, correctFields(base, corrections)),
});

function* correctFields(base: Json, corrections: Json): Steps<JsonObject[]> {
  const args = new ArgumentReader();
  const corrected = args.readRecords(corrections);
  const records = args.readRecords(base);
  const meter = new StepMeter();
  const final: JsonObject[] = [];
  const count = Math.max(records.length, corrected.length);
  for (let i = 0; i < count; i++) {
    const record = records[i] ?? {};
    const found = Object.entries(corrected[i] ?? {}).filter(([, value]) => isFound(value));
    final.push(withFields(record, found));
    if (meter.isOverAfterRecord()) yield;
    for (const key in record) if (meter.isOverAfterField(key)) yield;
  }
  return final;
}

export const zipPagesWithPeriods = defineFunction({
  name: 'zip_pages_with_periods',
  pure: true,
  description: 'Pairs pages with the periods that they are about, for a fan-out; ends with the shorter list',
  inputs: {
    pages_list: { required: true, description: 'a list, or a text with a JSON list' },
    periods: {
      required: true,
      description: 'periods with period_end, or dates; in a list or a text with one',
    },
  },
  output: {
    name: 'pairs',
    description: 'each with pages and period_end',
    type: 'array',
    schema: { type: 'array', items: exactObject({ pages: {}, period_end: {} }) },
  },
  run({ pages_list: pages, periods }) {
    const args = new ArgumentReader();
    const ends = args
      .readList(periods)
      .map((period) => (isObject(period) ? (period['period_end'] ?? null) : period));
    return args
      .readList(pages)
      .slice(0, ends.length)
      .map((page, i) => ({ pages: page, period_end: ends[i] ?? null }));
  },
});

export const extractXbrlConceptList = defineFunction({
  name: 'extract_xbrl_concept_list',
  pure: true,
  description: 'Lists the concepts of XBRL facts as text, one per line, for a prompt',
  inputs: {
    facts: { type: 'object', required: true, description: 'the facts of a company: concepts by taxonomy' },
    max_chars: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_FUNCTION_TEXT,
      default: 8000,
      description: 'the length after which the list is cut, with a mark',
    },
  },
  output: {
    name: 'concepts',
    description: 'lines such as us-gaap/Revenues',
    type: 'string',
    schema: TEXT_SCHEMA,
  },
  run: ({ facts, max_chars: most }, context) => runWithPausesIfLong(context, listConcepts(facts, most)),
});

function* listConcepts(facts: JsonObject, most: number): Steps<string> {
  const meter = new StepMeter();
  let list = '';
  for (const [taxonomy, concepts] of Object.entries(facts)) {
    if (meter.isOverAfterRecord()) yield;
    for (const concept of isObject(concepts) ? Object.keys(concepts) : []) {
      list += `${list === '' ? '' : '\n'}${taxonomy}/${concept}`;
      if (list.length > most) return `${list.slice(0, most)}\n...(truncated)`;
      if (meter.isOverAfterField('')) yield;
    }
  }
  return list;
}
