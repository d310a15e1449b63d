import { isObject, type Json, type JsonObject, setOwn } from '../../common/json.js';
import { defineFunction } from './function.js';
import { isFound, readList, readObject, readRecords, toSlug, withFields } from './values.js';

/** Longer names of segments are cut: they become part of every key. */
const MAX_NAME_LENGTH = 100;

const RECORDS = 'one object per period, in a list or in a text with a JSON list';

const FIELDS_OUTPUT = { name: 'fields', description: 'one object per period', type: 'array' } as const;

export const applySegmentNames = defineFunction({
  name: 'apply_segment_names',
  description: 'Puts the names of segments in place of [1], [2] and so on in the names of fields',
  inputs: {
    extracted_fields: { required: true, description: RECORDS },
    segment_names: {
      required: true,
      description: 'names by placeholder, such as {"[1]": "Google Services"}, or a text with that',
    },
  },
  output: FIELDS_OUTPUT,
  run({ extracted_fields: records, segment_names: names }) {
    const slugs = new Map<string, string>();
    for (const [placeholder, name] of Object.entries(readObject(names))) {
      const slug = typeof name === 'string' && isFound(name) ? toSlug(name.slice(0, MAX_NAME_LENGTH)) : '';
      if (slug !== '') slugs.set(placeholder, `_${slug}`);
    }
    return readRecords(records).map((record) => renameFields(record, slugs));
  },
});

/**
 * Replaces the first placeholder of each key; only what is in the key is looked up. Where another field has the new key, the
 * number of the placeholder is added to it.
 */
function renameFields(record: JsonObject, slugs: ReadonlyMap<string, string>): JsonObject {
  const rename = (key: string): [placeholder: string, renamed: string] => {
    const [placeholder = ''] = /\[\d{1,9}\]/.exec(key) ?? [];
    return [placeholder, key.replace(placeholder, slugs.get(placeholder) ?? placeholder)];
  };
  const taken = new Set(Object.keys(record).filter((key) => rename(key)[1] === key));
  const renamed: JsonObject = {};
  for (const [key, value] of Object.entries(record)) {
    const [placeholder, first] = rename(key);
    let name = first;
    if (name !== key) while (taken.has(name)) name += `_${placeholder.slice(1, -1)}`;
    taken.add(name);
    setOwn(renamed, name, value);
  }
  return renamed;
}

export const assembleExtractionSections = defineFunction({
  name: 'assemble_extraction_sections',
  description:
    'Joins the fields of the sections of a report by period; the first value that was found counts',
  inputs: {
    face: { default: [], description: `of the income statement: ${RECORDS}` },
    segments: { default: [], description: 'of the segments, likewise' },
    other_income: { default: [], description: 'of other income, likewise' },
    per_share: { default: [], description: 'of the amounts per share, likewise' },
  },
  output: FIELDS_OUTPUT,
  run({ face, segments, other_income: otherIncome, per_share: perShare }) {
    return [face, segments, otherIncome, perShare].map(readRecords).reduce(joinFound);
  },
});

/** Adds what the first list lacks. */
function joinFound(first: readonly JsonObject[], second: readonly JsonObject[]): JsonObject[] {
  return Array.from({ length: Math.max(first.length, second.length) }, (_, i) => {
    const known = first[i] ?? {};
    const added = Object.entries(second[i] ?? {}).filter(([key, value]) => isAdded(known, key, value));
    return withFields(known, added);
  });
}

function isAdded(known: JsonObject, key: string, value: Json): boolean {
  return !Object.hasOwn(known, key) || (!isFound(known[key]) && isFound(value));
}

export const finalizeExtraction = defineFunction({
  name: 'finalize_extraction',
  description: 'Puts corrections over extracted fields by period; what the correction did not find stays',
  inputs: {
    base_fields: { required: true, description: RECORDS },
    corrections: { required: true, description: 'the corrected fields, likewise' },
  },
  output: FIELDS_OUTPUT,
  run({ base_fields: base, corrections }) {
    const corrected = readRecords(corrections);
    const records = readRecords(base);
    return Array.from({ length: Math.max(records.length, corrected.length) }, (_, i) => {
      const found = Object.entries(corrected[i] ?? {}).filter(([, value]) => isFound(value));
      return withFields(records[i] ?? {}, found);
    });
  },
});

export const zipPagesWithPeriods = defineFunction({
  name: 'zip_pages_with_periods',
  description: 'Pairs pages with the periods that they are about, for a fan-out; ends with the shorter list',
  inputs: {
    pages_list: { required: true, description: 'a list, or a text with a JSON list' },
    periods: {
      required: true,
      description: 'periods with period_end, or dates; in a list or a text with one',
    },
  },
  output: { name: 'pairs', description: 'each with pages and period_end', type: 'array' },
  run({ pages_list: pages, periods }) {
    const ends = readList(periods).map(readPeriodEnd);
    return readList(pages)
      .slice(0, ends.length)
      .map((page, i) => ({ pages: page, period_end: ends[i] ?? null }));
  },
});

function readPeriodEnd(period: Json): Json {
  return isObject(period) ? (period['period_end'] ?? null) : period;
}

export const extractXbrlConceptList = defineFunction({
  name: 'extract_xbrl_concept_list',
  description: 'Lists the concepts of XBRL facts as text, one per line, for a prompt',
  inputs: {
    facts: { type: 'object', required: true, description: 'the facts of a company: concepts by taxonomy' },
    max_chars: {
      type: 'integer',
      minimum: 1,
      default: 8000,
      description: 'the length after which the list is cut, with a mark',
    },
  },
  output: { name: 'concepts', description: 'lines such as us-gaap/Revenues', type: 'string' },
  run({ facts, max_chars: most }) {
    let list = '';
    for (const [taxonomy, concepts] of Object.entries(facts)) {
      for (const concept of isObject(concepts) ? Object.keys(concepts) : []) {
        list += `${list === '' ? '' : '\n'}${taxonomy}/${concept}`;
        if (list.length > most) return `${list.slice(0, most)}\n...(truncated)`;
      }
    }
    return list;
  },
});
