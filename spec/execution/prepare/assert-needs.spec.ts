import { expect } from 'chai';
import { AllowedCommands } from '../../../lib/common/config/allowed-commands.js';
import { errorMessage } from '../../../lib/common/errors.js';
import { environmentSecrets } from '../../../lib/definition/secrets/sources.js';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { commandAccess } from '../../../lib/tools/commands/command-access.js';
import { parsePlan, planText, subPipelineText } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';

const TOKEN = 'hunter2222';

/** A registry whose tasks may start the programs that are named. */
function registryFor(allowed: string): RunRegistry {
  const commands = commandAccess({ allowed: AllowedCommands.parse(allowed), advice: 'ask' });
  return new RunRegistry({ commands, secrets: environmentSecrets({ TOKEN }) });
}

interface Ended {
  readonly record: RunRecord;
  readonly logs: readonly string[];
}

async function run(tasks: string, registry: RunRegistry, tenant_id = 'default'): Promise<Ended> {
  const pipeline = parsePipeline(`{id: spec, goal: be checked, tasks: [${tasks}]}`);
  const logs: string[] = [];
  const onEvent = (event: LiveEvent): void => {
    if (event.kind === 'log') logs.push(event.message);
  };
  const runId = await registry.submit({ pipeline, tenant_id }, { onEvent });
  return { record: await registry.settled(runId), logs };
}

/** The error that keeps a run from beginning. */
const refusalOf = (...begun: Parameters<typeof run>): Promise<unknown> => catchRejection(run(...begun));

describe('Commands of a run (D88)', () => {
  const GREP = '{id: a, tool: command, inputs: {run: [grep, x], stdin: "x y"}}';

  it('give their output to later tasks', async () => {
    const tasks = `${GREP}, {id: b, tool: command, inputs: {run: [echo, "{{a.output}}", 3], output: lines}}`;
    const { record } = await run(tasks, registryFor('grep,echo'));
    expect(record.result?.outputs).to.deep.equal({ a: 'x y', b: ['x y 3'] });
  });

  it('are refused before the run begins, with the task and the program', async () => {
    const error = await refusalOf(`{id: m, tool: mock}, ${GREP}`, registryFor('git'));
    expect(error).to.have.property('code', 'command_not_allowed');
    expect(errorMessage(error)).to.equal('task "a": "grep" may not be started (allowed here: git); ask');
  });

  it('are refused by default', async () => {
    expect(await refusalOf(GREP, new RunRegistry({}))).to.have.property('code', 'command_not_allowed');
  });

  it('are allowed by tenant', async () => {
    const registry = registryFor('acme:grep');
    expect((await run(GREP, registry, 'acme')).record.status).to.equal('succeeded');
    expect(await refusalOf(GREP, registry, 'beta')).to.have.property('code', 'command_not_allowed');
  });

  it('of scripts are refused by their shell', async () => {
    const error = await refusalOf(
      '{id: s, tool: command, inputs: {script: "ls", shell: sh}}',
      registryFor('ls'),
    );
    expect(errorMessage(error)).to.contain('"sh" may not be started');
  });

  it('that a value names are refused when their task begins', async () => {
    const tasks =
      '{id: t, tool: transform, inputs: {input: touch, expression: "[$, 1]"}}, {id: a, tool: command, inputs: {run: "{{t.output}}"}}';
    const { record } = await run(tasks, registryFor('git'));
    expect(record).to.include({
      status: 'failed',
      error: '"touch" may not be started (allowed here: git): ask',
    });
    expect(await refusalOf(tasks, registryFor(''))).to.have.property('code', 'command_not_allowed');
  });

  it('of a pipeline in a task are refused: before the run where it is written there, else with the task', async () => {
    const inner = '{id: i, goal: g, tasks: [{id: x, tool: command, inputs: {run: [touch, started]}}]}';
    const written = `{id: n, tool: run_pipeline, inputs: {pipeline: ${inner}}}`;
    expect(errorMessage(await refusalOf(written, registryFor('git')))).to.contain(
      'task "n": "touch" may not be started',
    );
    const text = JSON.stringify(inner);
    const computed = `{id: t, tool: transform, inputs: {input: ${text}, expression: "$"}}, {id: n, tool: run_pipeline, inputs: {pipeline: "{{t.output}}"}}`;
    const { record } = await run(computed, registryFor('git'));
    expect(record).to.include({ status: 'failed' });
    expect(record.error).to.contain('"touch" may not be started');
  });

  it('of a plan are refused before anything of it begins, also those of its handlers', async () => {
    const head = 'on_failure: [{id: h, tool: command, inputs: {run: [date]}}],';
    const plan = parsePlan(planText([subPipelineText('one', GREP)], head));
    const submit = (allowed: string): Promise<unknown> =>
      catchRejection(registryFor(allowed).submitPlan({ plan }));
    expect(errorMessage(await submit('date'))).to.contain('"grep" may not be started');
    expect(errorMessage(await submit('grep'))).to.contain('"date" may not be started');
  });

  it('of a rerun are refused as those of a new run', async () => {
    let allowed = AllowedCommands.all;
    const commands = commandAccess({ allowed: () => allowed });
    const registry = new RunRegistry({ commands });
    const { record } = await run(GREP, registry);
    allowed = AllowedCommands.none;
    expect(await catchRejection(registry.rerun(record.run_id, { from: 'a' }))).to.have.property(
      'code',
      'command_not_allowed',
    );
  });

  it('log what they write while they work, with its secrets masked', async () => {
    const script = 'echo out $TOKEN; printf hunter >&2; echo 2222 >&2; exit 1';
    const tasks = `{id: a, tool: command, inputs: {script: "${script}", shell: sh, env: {TOKEN: "{{secrets.TOKEN}}"}}}`;
    const { logs, record } = await run(tasks, registryFor('sh'));
    expect(logs.toSorted()).to.deep.equal(['***', 'out ***']);
    expect(record.error)
      .to.match(/^sh ended with status 1; the last lines were:\n/)
      .and.not.contain('2222');
  });

  it('publish their files as artifacts of the run', async () => {
    const tasks =
      '{id: a, tool: command, inputs: {script: "mkdir out; echo a,b > out/table.csv", shell: sh, files: ["out/*.csv"]}}';
    const { record } = await run(tasks, registryFor('sh'));
    expect(record.artifacts).to.deep.equal([
      { name: 'table.csv', task_id: 'a', media_type: 'text/csv', size: 4 },
    ]);
  });
});
