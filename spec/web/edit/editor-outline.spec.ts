import { yaml } from '@codemirror/lang-yaml';
import { EditorState } from '@codemirror/state';
import { expect } from 'chai';
import { findPart, outlineOf, wholeOutlineOf } from '../../../web/console/edit/code/outline-of.js';

describe('The outline of a text in the editor', () => {
  it('finds a task behind the part of a long text that has been parsed so far', () => {
    const tasks = Array.from(
      { length: 3000 },
      (_, index) => `    - id: t${index}\n      tool: mock\n      inputs: {n: ${index}}\n`,
    );
    const doc = `pipeline:\n  id: long\n  goal: g\n  tasks:\n${tasks.join('')}`;
    const state = EditorState.create({ doc, extensions: [yaml()] });
    expect(outlineOf(state).parts.length, 'what is parsed at once').to.be.below(3000);
    const part = findPart(state, 't2999');
    expect(doc.slice(part?.from, part?.to)).to.contain('id: t2999');
    expect(findPart(state, 't3000')).to.equal(undefined);
  });

  it('is that of a plan also when its sub-pipelines are behind what a busy browser has parsed at once', () => {
    const inputs = JSON.stringify({ text: 'x'.repeat(4000) });
    const doc = `{"id": "both", "goal": "g", "inputs": ${inputs}, "sub_pipelines": [{"id": "east"}]}`;
    const state = EditorState.create({ doc, extensions: [yaml()] });
    expect(outlineOf(state).kind, 'what is parsed at once').to.equal('pipeline');
    const { kind, parts } = wholeOutlineOf(state);
    expect([kind, parts.map(({ id }) => id)]).to.deep.equal(['plan', ['east']]);
  });
});
