import { expect } from 'chai';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { systemClock } from '../../../lib/common/clock.js';
import { WavetrainError } from '../../../lib/common/errors.js';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import type { RunInputs } from '../../../lib/execution/prepare/run-inputs.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import type { RegistryOptions } from '../../../lib/runs/registry-options.js';
import { encodeSecret } from '../../../lib/definition/secrets/encodings.js';
import { environmentSecrets } from '../../../lib/definition/secrets/sources.js';
import { RunTracer } from '../../../lib/telemetry/run-spans.js';
import { Spans } from '../../../lib/telemetry/spans.js';
import { catchRejection } from '../../support/rejection.js';
import { FAILURES, LEAKY_TOOLS, TOKEN } from './leaky-tools.js';

/** Everything that was told of one run. */
interface Told {
  readonly registry: RunRegistry;
  readonly runId: string;
  readonly outputs: Record<string, unknown>;
  readonly error: string | null;
  /** Everything in one text: record, events, snapshot, tasks, items, failure and spans. */
  readonly text: string;
}

interface Options extends Omit<RunInputs, 'pipeline'> {
  readonly secrets?: Record<string, string>;
  readonly registry?: RegistryOptions;
}

async function run(
  tasks: string,
  { secrets = { TOKEN }, registry: options, ...inputs }: Options = {},
): Promise<Told> {
  const pipeline = parsePipeline(`{id: spec, goal: show nothing, tasks: [${tasks}]}`, { tools: LEAKY_TOOLS });
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = new RunTracer(new Spans(provider.getTracer('spec')), systemClock);
  const events: LiveEvent[] = [];
  const registry = new RunRegistry({
    secrets: environmentSecrets(secrets),
    eventBuffer: 1000,
    onEvent: tracer.onEvent,
    onAttempt: tracer.onAttempt,
    ...options,
  });
  const runId = await registry.submit(
    { pipeline, collect_events: true, options: { retry_base_delay: 0 }, ...inputs },
    { onEvent: (event) => void events.push(event) },
  );
  const record = await registry.settled(runId);
  const items = await Promise.all(
    pipeline.definition.tasks
      .filter(({ parallel_over: list }) => list !== undefined)
      .map(({ id }) => registry.items(runId, id)),
  );
  const spans = exporter
    .getFinishedSpans()
    .map(({ name, attributes, events: inSpan, status }) => ({ name, attributes, inSpan, status }));
  const told = [
    record,
    events,
    await registry.queries.actors.snapshot(runId),
    await registry.tasks(runId),
    items,
    registry.queries.failure(runId),
    await registry.queries.failedCalls(runId, { most: 20 }),
    spans,
  ];
  const outputs = (record.result as { outputs: Record<string, unknown> } | null)?.outputs ?? {};
  return {
    registry,
    runId,
    outputs,
    error: record.error,
    text: told.map((part) => JSON.stringify(part)).join('\n'),
  };
}

/** Fails when a secret, or any of its encodings, is in the text. */
function expectNothingTold(text: string, secret = TOKEN): void {
  for (const form of encodeSecret(secret)) {
    expect(text.includes(form), `told as ${form}`).to.equal(false);
    expect(text.includes(JSON.stringify(form).slice(1, -1)), `told as ${form}, in JSON`).to.equal(false);
  }
  expect(text).not.to.include('98765');
}

describe('A run with secrets (D61)', () => {
  it('gives tools the values, and shows nobody: neither in outputs, writes, logs, events, records, snapshots nor traces', async () => {
    const told = await run(
      '{id: a, tool: echo, inputs: {token: "{{secrets.TOKEN}}"}}, {id: b, tool: mock, inputs: {x: "{{a.output}}", y: "{{session.plain}}"}, await: [a]}',
    );
    expect(told.error).to.equal(null);
    expectNothingTold(told.text);
    expect(told.outputs['a']).to.include({ plain: 'kept', '***': 1 });
    expect(told.text).to.include('the token is ***');
    expect(told.text).to.include('"inputs":{"token":"***","how":""}');
    expect(told.outputs['b']).to.deep.include({ inputs: { x: told.outputs['a'], y: ['***'] } });
  });

  for (const how of Object.keys(FAILURES)) {
    it(`masks what a tool throws: ${how}`, async () => {
      const told = await run(
        `{id: a, tool: leak, retry: 1, inputs: {token: "{{secrets.TOKEN}}", how: "${how}"}}`,
      );
      expect(told.error).to.be.a('string');
      expectNothingTold(told.text);
    });
  }

  it('masks the errors of inputs that the tool refuses, which quote them in part', async () => {
    for (const inputs of ['{token: "{{secrets.TOKEN}}"}', '{count: "{{secrets.TOKEN}}"}']) {
      const told = await run(`{id: a, tool: choosy, inputs: ${inputs}}`);
      expect(told.error).to.match(/^input "(token|count)" must be/);
      expectNothingTold(told.text);
      expect(told.text).not.to.match(/tok[\\]+"/);
    }
  });

  it('masks the place of what JSON cannot hold', async () => {
    const told = await run('{id: a, tool: unprintable, inputs: {token: "{{secrets.TOKEN}}"}}');
    expect(told.error).to.include('(at rows.***)');
    expectNothingTold(told.text);
  });

  it('masks the items of a fan-out, and errors that it collects', async () => {
    const list = '{id: l, tool: transform, inputs: {input: null, expression: "[1, 2]"}}';
    const fanOut =
      '{id: a, tool: leak, on_item_error: collect, parallel_over: "{{l.output}}", inputs: {how: message, token: "{{secrets.TOKEN}}{{item}}"}}';
    const good =
      '{id: b, tool: echo, parallel_over: "{{l.output}}", inputs: {token: "{{secrets.TOKEN}}", how: "n{{item}}"}}';
    const told = await run(`${list}, ${fanOut}, ${good}`);
    expect(told.text).to.include('refused: ***1');
    expectNothingTold(told.text);
  });

  it('masks what nested pipelines are given, read by name and do with it', async () => {
    const nested =
      '{id: n, goal: "for {{params.token}}", params: {token: {}, more: {type: list}}, tasks: [{id: x, tool: echo, inputs: {token: "{{params.token}}"}}, {id: y, tool: mock, inputs: {more: "{{params.more}}", own: "{{secrets.TOKEN}}", goal: "{{pipeline.goal}}"}}]}';
    const more = `[${Array.from({ length: 100 }, () => '"{{secrets.TOKEN}}"').join(', ')}]`;
    const told = await run(
      `{id: a, tool: run_pipeline, inputs: {params: {token: "{{secrets.TOKEN}}", more: ${more}}, pipeline: ${nested}}}`,
    );
    expect(told.error).to.equal(null);
    expectNothingTold(told.text);
  });

  it('masks the errors of a nested pipeline', async () => {
    const nested =
      '{id: n, goal: g, params: {count: {type: integer}}, tasks: [{id: x, tool: mock, inputs: {c: "{{params.count}}"}}]}';
    const told = await run(
      `{id: a, tool: run_pipeline, inputs: {params: {count: "{{secrets.TOKEN}}"}, pipeline: ${nested}}}`,
    );
    expect(told.error).to.be.a('string');
    expectNothingTold(told.text);
  });

  it('masks a secret that the run was also given as a param, for those who look at its tasks', async () => {
    const told = await run(
      '{id: a, tool: mock, inputs: {x: "{{secrets.TOKEN}}", y: "{{pipeline.inputs.given ?? 1}}"}}',
      { inputs: { given: TOKEN } },
    );
    expectNothingTold(told.text);
  });

  it('masks a number that is a secret', async () => {
    const told = await run(
      '{id: a, tool: transform, inputs: {input: "{{secrets.PIN}}", expression: "$number($)"}}',
      { secrets: { PIN: '73519846' } },
    );
    expect(told.outputs).to.deep.equal({ a: '***' });
    expect(told.text).not.to.include('73519846');
  });

  it('masks a secret that is a common word, in what tools say, and keeps the words of the record', async () => {
    const told = await run('{id: a, tool: mock, inputs: {x: "{{secrets.WORD}} run succeeded"}}', {
      secrets: { WORD: 'succeeded' },
    });
    expect((told.outputs['a'] as { inputs: unknown }).inputs).to.deep.equal({ x: '*** run ***' });
    expect(told.registry.record(told.runId).status).to.equal('succeeded');
  });

  it('writes no file whose name contains a secret', async () => {
    const told = await run('{id: a, tool: filing, inputs: {token: "{{secrets.PIN}}"}}', {
      secrets: { PIN: 'p98765x' },
    });
    expect(told.error).to.include('a secret is part of its name');
    expectNothingTold(told.text, 'p98765x');
  });

  it('masks its secrets in outputs from the cache, which another run has kept', async () => {
    const registry = new RunRegistry({ secrets: environmentSecrets({ TOKEN }) });
    const kept = `{id: a, tool: mock, cache: true, inputs: {x: ${JSON.stringify(TOKEN)}}}`;
    const outputs = [];
    for (const tasks of [kept, `${kept}, {id: b, tool: mock, inputs: {x: "{{secrets.TOKEN}}"}}`]) {
      const runId = await registry.submit({ pipeline: parsePipeline(`{id: p, goal: g, tasks: [${tasks}]}`) });
      outputs.push(JSON.stringify((await registry.settled(runId)).result));
    }
    expect(outputs[0]).to.include('98765');
    expectNothingTold(outputs[1] ?? '');
  });

  it('changes nothing in a run without secrets', async () => {
    const told = await run(`{id: a, tool: mock, inputs: {x: ${JSON.stringify(TOKEN)}}}`);
    expect((told.outputs['a'] as { inputs: unknown }).inputs).to.deep.equal({ x: TOKEN });
  });

  it('does not begin when a secret is missing, or cannot be masked', async () => {
    const task = '{id: a, tool: mock, inputs: {x: "{{secrets.OTHER}}"}}';
    const missing = (await catchRejection(run(task))) as WavetrainError;
    expect(missing.code).to.equal('secret_missing');
    expect(missing.message).to.equal(
      'there is no secret "OTHER", which task "a" reads: set SECRET_OTHER in the environment',
    );
    const short = (await catchRejection(run(task, { secrets: { OTHER: 'abc' } }))) as WavetrainError;
    expect(short.message).to.equal('the value of the secret "OTHER" has fewer than 4 characters');
    const optional = await run(
      '{id: a, tool: mock, inputs: {x: "{{secrets.OTHER ?? \'none\'}}"}}'.replaceAll("'", '\\"'),
    );
    expect((optional.outputs['a'] as { inputs: unknown }).inputs).to.deep.equal({ x: 'none' });
  });

  it('fails a task that runs a pipeline whose secret is missing', async () => {
    // In a definition that is written in place, the secret would be missing before the run.
    const definition = {
      id: 'n',
      goal: 'g',
      tasks: [{ id: 'x', tool: 'mock', inputs: { x: '<secrets.GONE>' } }],
    };
    const expression = JSON.stringify(definition).replace('<', '{" & "{').replace('>', '}" & "}');
    const told = await run(
      `{id: d, tool: transform, inputs: {input: null, expression: ${JSON.stringify(expression)}}}, {id: a, tool: run_pipeline, inputs: {pipeline: "{{d.output}}"}}`,
    );
    expect(told.error).to.include('there is no secret "GONE", which task "x" reads');
  });
});
