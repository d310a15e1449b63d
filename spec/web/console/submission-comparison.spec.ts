import { expect } from 'chai';
import type { JsonObject } from '../../../lib/common/json/json.js';
import type { EditableDefinition } from '../../../lib/runs/views/submission-view.js';
import {
  compareSubmissions,
  type DefinitionDifference,
  readSubmission,
} from '../../../web/console/run/model/submission-comparison.js';

const DEFINITION = { id: 'p', goal: 'g' };

/** The submission of a pipeline that was written as YAML, but for what is given. */
function submitted(more: Partial<EditableDefinition> = {}): EditableDefinition {
  return {
    kind: 'pipeline',
    definition: DEFINITION,
    yaml: 'id: p\ngoal: g\n',
    yaml_source: 'submitted',
    params: {},
    inputs: {},
    session: {},
    options: {},
    ...more,
  };
}

const differenceOf = (
  before: Partial<EditableDefinition>,
  after: Partial<EditableDefinition>,
): DefinitionDifference => compareSubmissions(submitted(before), submitted(after)).definition;

/** The signs and texts of the lines that differ. */
function linesOf(difference: DefinitionDifference): string[] {
  if (difference.kind !== 'lines') return [];
  return difference.hunks
    .flatMap(({ lines }) => lines)
    .filter(({ kind }) => kind !== 'same')
    .map(({ kind, text }) => `${kind} ${text}`);
}

describe('The comparison of what two runs were submitted with', () => {
  it('names the tasks whose definitions differ, also in the sub-pipelines of a plan', () => {
    const tasks = (x: number) => [
      { id: 'a', tool: 'mock', inputs: { x } },
      { id: 'b', tool: 'mock' },
    ];
    const plan = (x: number) => ({
      sub_pipelines: [{ id: 'part', pipeline: { id: 'part', tasks: tasks(x) } }],
    });
    const redefined = (before: object, after: object): string[] => [
      ...compareSubmissions(
        submitted({ definition: before as JsonObject }),
        submitted({ definition: after as JsonObject }),
      ).redefined,
    ];
    expect(redefined({ tasks: tasks(1) }, { tasks: tasks(2) })).to.deep.equal(['a']);
    expect(redefined(plan(1), plan(2))).to.deep.equal(['part/a']);
  });

  it('finds no difference in equal submissions, whatever the order of their keys', () => {
    const { definition, values } = compareSubmissions(
      submitted({ params: { a: 1, b: 2 } }),
      submitted({ params: { b: 2, a: 1 } }),
    );
    expect({ definition, values }).to.deep.equal({ definition: { kind: 'none' }, values: [] });
  });

  it('lists the params, inputs, session values and options that differ', () => {
    const { values } = compareSubmissions(
      submitted({ params: { a: 1 }, session: { s: 1 } }),
      submitted({ params: { a: 2 }, inputs: { i: 1 }, session: { s: 1 }, plan_concurrency: 2 }),
    );
    expect(values).to.deep.equal([
      { name: 'params', before: { a: 1 }, after: { a: 2 } },
      { name: 'inputs', before: {}, after: { i: 1 } },
      { name: 'options', before: {}, after: { plan_concurrency: 2 } },
    ]);
  });

  it('compares the lines of the texts that were sent', () => {
    const changed = { definition: { ...DEFINITION, goal: 'h' }, yaml: 'id: p\ngoal: h\n' };
    const difference = differenceOf({}, changed);
    expect(difference).to.include({ kind: 'lines', isMeant: true });
    expect(linesOf(difference)).to.deep.equal(['removed goal: g', 'added goal: h']);
  });

  it('says that texts mean the same that differ in a comment', () => {
    const difference = differenceOf({}, { yaml: '# mine\nid: p\ngoal: g\n' });
    expect(difference).to.include({ kind: 'lines', isMeant: false });
    expect(linesOf(difference)).to.deep.equal(['added # mine']);
  });

  it('compares the data, line by line, where a text was generated, or is JSON in one line', () => {
    const definition = { ...DEFINITION, goal: 'h' };
    const lines = ['removed   "goal": "g"', 'added   "goal": "h"'];
    const generated = { definition, yaml: 'goal: "h"\nid: "p"\n', yaml_source: 'generated' } as const;
    expect(linesOf(differenceOf({}, generated))).to.deep.equal(lines);
    const json = { definition, yaml: JSON.stringify(definition) };
    expect(linesOf(differenceOf({ yaml: JSON.stringify(DEFINITION) }, json))).to.deep.equal(lines);
    expect(differenceOf({}, { ...generated, definition: DEFINITION })).to.deep.equal({ kind: 'none' });
  });

  it('says no more than that they differ where a definition is too long for a text, or everything differs', () => {
    const none = { yaml: null, yaml_source: 'generated' } as const;
    expect(differenceOf(none, none)).to.deep.equal({ kind: 'none' });
    expect(differenceOf(none, { ...none, definition: { id: 'q' } })).to.deep.equal({ kind: 'large' });
    const long = (name: string): Partial<EditableDefinition> => ({
      definition: { id: name },
      yaml: Array.from({ length: 2000 }, (_, index) => `${name}: ${index}`).join('\n'),
    });
    expect(differenceOf(long('a'), long('b'))).to.deep.equal({ kind: 'large' });
  });

  it('reads what a run was submitted with by its id, whatever that has in it', async () => {
    const asked: string[] = [];
    const server = {
      getJson<T>(path: string): Promise<T> {
        asked.push(path);
        return Promise.resolve(submitted() as T);
      },
    };
    await readSubmission(server, 'a/b', new AbortController().signal);
    expect(asked).to.deep.equal(['/pipelines/runs/a%2Fb/definition']);
  });
});
