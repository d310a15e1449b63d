import { expect } from 'chai';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { environmentSecrets } from '../../../lib/definition/secrets/sources.js';
import type { SecretSource } from '../../../lib/definition/secrets/run-secrets.js';
import { catchRejection } from '../../support/rejection.js';
import { parsePlan } from '../../support/definitions/parse-plan.js';
import { LEAKY_TOOLS, TOKEN } from './leaky-tools.js';

/** Secrets that change while the process runs, as those of a library's host may. */
class ChangingSecrets implements SecretSource {
  values: Record<string, string>;

  constructor(values: Record<string, string>) {
    this.values = values;
  }

  find(_tenantId: string, name: string): string | undefined {
    return this.values[name];
  }
}

const TASKS =
  '{id: a, tool: mock, inputs: {x: "{{secrets.TOKEN}}"}}, {id: b, tool: mock, inputs: {x: "{{secrets.OTHER}}"}}, {id: c, tool: fail, inputs: {message: no}, await: [a, b]}';

describe('A rerun with secrets (D60, D61)', () => {
  async function rerun(change: Record<string, string>): Promise<readonly string[]> {
    const secrets = new ChangingSecrets({ TOKEN, OTHER: 'other-value' });
    const registry = new RunRegistry({ secrets });
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [${TASKS}]}`);
    const runId = await registry.submit({ pipeline });
    await registry.settled(runId);
    secrets.values = { ...secrets.values, ...change };
    const rerunId = await registry.rerun(runId, { from: 'failed' });
    const { tasks } = await registry.settled(rerunId).then(() => registry.tasks(rerunId));
    return tasks.filter(({ reused }) => reused).map(({ task_id }) => task_id);
  }

  it('reuses the tasks whose secrets have the same values', async () => {
    expect(await rerun({})).to.deep.equal(['a', 'b']);
  });

  it('runs the tasks again whose secrets have other values', async () => {
    expect(await rerun({ OTHER: 'another-value' })).to.deep.equal(['a']);
  });

  it('does not begin when a secret is gone', async () => {
    const secrets = new ChangingSecrets({ TOKEN, OTHER: 'other-value' });
    const registry = new RunRegistry({ secrets });
    const runId = await registry.submit({ pipeline: parsePipeline(`{id: p, goal: g, tasks: [${TASKS}]}`) });
    await registry.settled(runId);
    secrets.values = { TOKEN };
    expect(await catchRejection(registry.rerun(runId))).to.include({ code: 'secret_missing' });
  });
});

describe('A plan with secrets (D61)', () => {
  const PLAN = `{id: plan, goal: g, sub_pipelines: [
    {id: one, goal: g, stores: [kept], pipeline: {id: one, goal: g, tasks: [{id: a, tool: store, inputs: {key: kept, value: "{{secrets.TOKEN}}"}}]}},
    {id: two, goal: g, reads: [kept], pipeline: {id: two, goal: g, tasks: [{id: b, tool: leak, inputs: {how: message, token: "{{session.kept}} {{secrets.OTHER}}"}}]}}]}`;

  it('masks the secrets of all sub-pipelines in all of them, and on the blackboard', async () => {
    const registry = new RunRegistry({ secrets: environmentSecrets({ TOKEN, OTHER: 'other-value' }) });
    const runId = await registry.submitPlan({ plan: parsePlan(PLAN, { tools: LEAKY_TOOLS }) });
    const record = await registry.settled(runId);
    expect(record.error).to.equal('sub-pipeline "two", task "b": refused: *** ***');
    const told = JSON.stringify([
      record,
      await registry.tasks(runId),
      await registry.queries.actors.snapshot(runId),
    ]);
    expect(told).not.to.include('98765').and.not.to.include('other-value');
  });

  it('begins none of its sub-pipelines when a secret of one is missing', async () => {
    const registry = new RunRegistry({ secrets: environmentSecrets({ TOKEN }) });
    const submitted = registry.submitPlan({ plan: parsePlan(PLAN, { tools: LEAKY_TOOLS }) });
    const error = await catchRejection(submitted);
    expect(error).to.include({ code: 'secret_missing' });
    expect(String(error)).to.include('sub-pipeline "two": there is no secret "OTHER"');
  });
});
