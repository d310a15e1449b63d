import { expect } from 'chai';
import { InvalidDefinitionError, loadPipeline } from '../../lib/pipelines/load.js';
import { loadPlan } from '../../lib/plans/load.js';
import { defineTool } from '../../lib/tools/tool.js';
import { pipelineWith, wrapSubPipelines } from '../support/definitions/check-plan.js';
import { catchRejection } from '../support/rejection.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('loadPlan', () => {
  const folder = new TemporaryFolder();

  after(() => folder.remove());

  it('loads a plan with the pipelines of its files', async () => {
    folder.write('below/facts.json', '{"id": "p", "goal": "g", "tasks": [{"id": "o", "tool": "own"}]}');
    folder.write('write.yml', pipelineWith({ reads: ['x'] }));
    const file = folder.write(
      'plan.yaml',
      wrapSubPipelines('- {id: write, reads: [x]}\n- {id: facts, file: below/facts.json}'),
    );
    const own = defineTool({ name: 'own', description: 'is ours', inputs: {}, run: () => null });
    const plan = await loadPlan(file, { tools: [own], session: { x: 1 } });
    expect([...plan.subPipelines.keys()]).to.deep.equal(['write', 'facts']);
    expect(plan.subPipelines.get('facts')?.pipeline.tasks.get('o')?.tool).to.equal(own);
  });

  it('rejects with every problem, and names the files (D8)', async () => {
    folder.write('bad/a.yaml', 'id: p\ngoal: g\ntasks:\n- {id: t, tool: mok}');
    const file = folder.write(
      'bad/plan.yaml',
      wrapSubPipelines('- {id: a, reads: [x]}\n- {id: plan}\n- {id: c, file: ../c.yaml}'),
    );
    const error = await catchRejection(loadPlan(file));
    if (!(error instanceof InvalidDefinitionError)) throw error;
    expect(error.message.split('\n')).to.deep.equal([
      'line 4, column 23: no sub-pipeline stores "x", which "a" reads (add it to the "stores" of the sub-pipeline that writes it, or pass it in the session)',
      'line 5, column 7: sub-pipeline "plan" has no "file", and plan.yaml is the plan itself (name its file under "file", or write it in the plan under "pipeline")',
      `line 6, column 21: sub-pipeline "c": cannot read "../c.yaml": it is outside the plan's folder ${folder.at('bad')}`,
      'a.yaml, line 4, column 17: there is no tool "mok" (did you mean "mock"?)',
    ]);
    expect(error.problems.map(({ file = '' }) => file)).to.deep.equal(['', '', '', 'a.yaml']);
  });

  it('rejects a file that is unreadable or not UTF-8', async () => {
    const files = [folder.at('absent.yaml'), folder.write('binary.yaml', new Uint8Array([0x61, 0xff, 0x62]))];
    for (const load of [loadPlan, loadPipeline]) {
      for (const file of files) {
        expect(await catchRejection(load(file)), file).to.have.property('code', 'unreadable_file');
      }
    }
  });
});
