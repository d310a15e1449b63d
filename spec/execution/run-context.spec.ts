import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArtifactFolder } from '../../lib/execution/run-context.js';
import { defineTool } from '../../lib/tools/tool.js';
import { settle } from '../support/deferred.js';
import { subPipelineText } from '../support/definitions/parse-plan.js';
import { startPlan } from '../support/runs/start-plan.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('ArtifactFolder (D24)', () => {
  const temporary = new TemporaryFolder();
  const folder = temporary.path;

  after(() => temporary.remove());

  it('is created when first needed, and never returns a path twice', () => {
    const artifacts = new ArtifactFolder(join(folder, 'run'));
    expect(existsSync(join(folder, 'run'))).to.equal(false);
    const paths = ['t', 't', 'u'].map((taskId) => artifacts.nextPath(taskId));
    expect(existsSync(join(folder, 'run'))).to.equal(true);
    expect(new Set(paths).size).to.equal(3);
  });

  it('separates the files of two sub-pipelines whose tasks have the same id', async () => {
    const tool = defineTool({
      name: 'bytes',
      description: 'returns bytes',
      inputs: { text: { description: 'the text', required: true } },
      run: ({ text }) => Buffer.from(JSON.stringify(text)),
    });
    const plan = await startPlan(
      ['a', 'b'].map((id) => subPipelineText(id, `{id: t, tool: bytes, inputs: {text: of ${id}}}`)),
      { tools: [tool], plan_concurrency: 2, executor: { artifactFolder: folder } },
    );
    while (!plan.run.isSettled) await settle();
    const { sub_results } = plan.record().result ?? {};
    const contents = ['a', 'b'].map((id) => {
      const { path } = sub_results?.[id]?.outputs['t'] as { path: string };
      expect(path.startsWith(join(folder, plan.run.id))).to.equal(true);
      return readFileSync(path, 'utf8');
    });
    expect(contents).to.deep.equal(['"of a"', '"of b"']);
  });
});
