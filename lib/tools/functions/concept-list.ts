import { isObject } from '../../common/json.js';
import { defineFunction } from './function.js';

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
