import { expect } from 'chai';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import { checkPipeline } from '../../../lib/pipelines/check.js';
import { PathCollector, type ReadablePaths } from '../../../lib/pipelines/shapes/readable-paths.js';
import { checkPlan } from '../../../lib/plans/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

const catalog = builtinCatalog();

function listPaths(text: string, check: typeof checkPipeline | typeof checkPlan = checkPipeline) {
  const collector = new PathCollector();
  check(text, { catalog, onRead: collector.onRead });
  return runToEnd(collector.list());
}

/** The paths of a pipeline. */
function pathsOf(text: string): ReadablePaths {
  const [only, ...others] = listPaths(text);
  expect(others).to.deep.equal([]);
  return only ?? { sub_pipeline: null, paths: {}, items: {} };
}

const FETCH = `id: p
goal: g
params:
  city: {type: string, description: Where.}
  near: {type: list, default: [{id: 1, tags: [a]}, {id: 2, name: b}]}
inputs: {urls: [{href: "http://a", weight: 1.5}]}
tasks:
  - {id: fetch, tool: http_request, inputs: {url: "{{params.city}}"}}
`;

describe('The paths that templates of a definition can read', () => {
  it('are those of outputs, with types and descriptions', () => {
    const { paths } = pathsOf(FETCH);
    expect(paths['fetch.output']).to.deep.include({ type: 'map' });
    expect(paths['fetch.output.status']).to.deep.include({ type: 'integer' });
  });

  it('are those of params, and are like their defaults where no schema says more', () => {
    const { paths } = pathsOf(FETCH);
    expect(paths['params.city']).to.deep.equal({ type: 'text', description: 'Where.' });
    expect(paths['params.near']).to.deep.equal({ type: 'list of map' });
    expect(paths['params.near[].id']).to.deep.equal({ type: 'number' });
    expect(paths['params.near[].name']).to.deep.equal({ type: 'text' });
    expect(paths['params.near[].tags[]']).to.deep.equal({ type: 'text' });
    expect(paths['pipeline.inputs.urls[].weight']).to.deep.equal({ type: 'number' });
  });

  const items = (list: string, before = '') =>
    pathsOf(
      `${FETCH}${before}  - {id: each, tool: mock, parallel_over: "{{${list}}}", inputs: {x: "{{item}}"}}\n`,
    ).items['each'];

  it('are those of the items of a fan-out, over an output, a param, an input or a session key', () => {
    const files = '  - {id: files, tool: list_files, inputs: {path: .}}\n';
    expect(items('files.output.files', files)?.['item.path']).to.deep.include({ type: 'text' });
    expect(items('params.near')?.['item.id']).to.deep.equal({ type: 'number' });
    expect(items('pipeline.inputs.urls')?.['item.href']).to.deep.equal({ type: 'text' });
    const keep = '  - {id: keep, tool: store, inputs: {key: rows, value: [{a: {b: 1}}]}}\n';
    expect(items('session.rows', keep)?.['item.a.b']).to.deep.equal({ type: '1' });
    expect(items('fetch.output.body')).to.deep.equal({ item: { type: 'any' } });
  });

  it('are derived: of a fan-out a list, of a nested pipeline its outputs, of a session key what is stored', () => {
    const { paths } =
      pathsOf(`${FETCH}  - {id: each, tool: http_request, parallel_over: "{{params.near}}", on_item_error: collect, inputs: {url: "{{item.name}}"}}
  - id: inner
    tool: run_pipeline
    inputs: {pipeline: {id: q, goal: g, tasks: [{id: get, tool: http_request, inputs: {url: "http://a"}}]}}
  - {id: keep, tool: store, inputs: {key: answer, value: "{{fetch.output}}"}}
`);
    expect(paths['each.output[].status']).to.deep.include({ type: 'integer' });
    expect(paths['each.output[].error']).to.deep.equal({ type: 'text' });
    expect(paths['each.output.status']).to.equal(undefined);
    expect(paths['inner.output.outputs.get.status']).to.deep.include({ type: 'integer' });
    expect(paths['session.answer.status']).to.deep.include({ type: 'integer' });
  });

  it('are there for definitions with errors, and not for texts that cannot be read', () => {
    const broken = `${FETCH}  - {id: bad, tool: nothing, await: [bad], inputs: {x: "{{fetch.output.}}"}}\n`;
    expect(pathsOf(broken).paths).to.include.keys('fetch.output.status', 'bad.output');
    expect(listPaths('tasks: [')).to.deep.equal([]);
  });

  it('are those of each pipeline within a plan, and of its handlers', () => {
    const plan = `plan:
  id: x
  inputs: {limit: 3}
  sub_pipelines:
    - id: s
      stores: [rows]
      pipeline:
        id: s
        goal: g
        tasks:
          - {id: get, tool: http_request, inputs: {url: "http://a"}}
          - {id: keep, tool: store, inputs: {key: rows, value: "{{get.output}}", append: true}}
    - id: t
      reads: [rows]
      pipeline: {id: t, goal: g, reads: [rows], tasks: [{id: show, tool: mock, inputs: {x: "{{session.rows}}"}}]}
  finally:
    - {id: tell, tool: http_request, inputs: {url: "http://a"}}
`;
    const all = listPaths(plan, checkPlan);
    expect(all.map(({ sub_pipeline: id }) => id)).to.deep.equal(['s', 't', null]);
    expect(all[1]?.paths['session.rows[].status']).to.deep.include({ type: 'integer' });
    expect(all[0]?.paths).to.include.keys('get.output.status');
    expect(all[2]?.paths).to.include.keys('tell.output.status', 'pipeline.inputs.limit');
  });

  it('are so many that a response stays small, of which the deepest are left out', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 300 }, (_, a) => [
        `f${a}`,
        Object.fromEntries(Array.from({ length: 100 }, (__, b) => [`g${b}`, 1])),
      ]),
    );
    const inputs = JSON.stringify({ one: wide, two: wide });
    const { paths } = pathsOf(`id: p\ngoal: g\ninputs: ${inputs}\ntasks: [{id: a, tool: mock}]\n`);
    expect(Object.keys(paths).length).to.equal(2000);
    expect(paths).to.include.keys('pipeline.inputs.one.f199', 'pipeline.inputs.two.f199');
  });
});
