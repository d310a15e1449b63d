import { expect } from 'chai';
import { PIPELINE_FIELDS, TASK_FIELDS } from '../../../lib/definition/schema/fields.js';
import { hintForForeignField } from '../../../lib/definition/schema/foreign-fields.js';
import { read } from '../files.js';
import { tableRows } from './markdown.js';

describe('The page for those who come from another product', () => {
  const [ofTasks = '', ofPipelines = '', missing = ''] = read('docs/other-products.md')
    .split(/^(?:## Other words|Of a pipeline:|## What is not here)$/m)
    .slice(1);
  const tables: [title: string, text: string, fields: readonly (readonly string[])[]][] = [
    ['fields of tasks', ofTasks, [TASK_FIELDS, PIPELINE_FIELDS]],
    ['fields of pipelines', ofPipelines, [PIPELINE_FIELDS]],
    ['what is not here', missing, [TASK_FIELDS, PIPELINE_FIELDS]],
  ];
  for (const [title, text, fields] of tables) {
    const words = tableRows(text).flatMap(([there = '']) =>
      [...there.matchAll(/`([\w-]+)`/g)].map(([, word = '']) => word),
    );
    it(`lists words for which the validator has a hint: ${title}`, () => {
      expect(words).to.have.length.above(3);
      const unknown = words.filter((word) =>
        fields.every((known) => hintForForeignField(word, known, undefined) === undefined),
      );
      expect(unknown).to.deep.equal([]);
    });
  }

  it('lists no word that means something here', () => {
    const fields = [...TASK_FIELDS, ...PIPELINE_FIELDS];
    const known = fields.filter((field) =>
      [TASK_FIELDS, PIPELINE_FIELDS].some(
        (list: readonly string[]) =>
          list.includes(field) && hintForForeignField(field, list, undefined) !== undefined,
      ),
    );
    expect(known).to.deep.equal([]);
  });
});
