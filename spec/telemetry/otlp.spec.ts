import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import type { Environment } from '../../lib/common/config/environment.js';
import type { SpanExport } from '../../lib/telemetry/otlp.js';
import { openTracing, type Tracing } from '../../lib/telemetry/tracing.js';
import { ControlledRuns } from '../runs/controlled-runs.js';
import { deferred, settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { catchRejection } from '../support/rejection.js';
import { Collector } from './collector.js';

describe('openTracing (D35)', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  let collector: Collector;
  let warnings: string[];

  beforeEach(() => {
    warnings = [];
  });
  afterEach(() => collector.close());

  async function open(env: Environment, outlet?: SpanExport): Promise<Tracing> {
    const options = { clock, warn: (message: string) => void warnings.push(message) };
    const tracing = await openTracing(env, options, outlet);
    if (tracing === undefined) throw new Error('no tracing');
    return tracing;
  }

  /** Runs one task that takes 1.5 s. */
  async function run({ onEvent, onAttempt }: Tracing): Promise<string> {
    const held = new ControlledRuns({ clock, onEvent, onAttempt });
    const runId = await held.submit('acme');
    clock.advance(1500);
    await held.complete(runId);
    return runId;
  }

  it('exports the spans of a run to the collector, with the resource of the service', async () => {
    collector = await Collector.open(200);
    const tracing = await open({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_SERVICE_NAME: 'trains',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=spec,team=a%2Cb',
    });
    const began = clock.now();
    const runId = await run(tracing);
    await tracing.close();
    const [delivery] = collector.deliveries;
    expect(collector.deliveries).to.have.length(1);
    expect(delivery?.path).to.equal('/v1/traces');
    expect(delivery?.headers['content-type']).to.equal('application/json');
    const resource = delivery?.body.resourceSpans[0]?.resource.attributes.map(({ key, value }) => [
      key,
      value['stringValue'],
    ]);
    expect(resource).to.deep.include.members([
      ['service.name', 'trains'],
      ['deployment.environment', 'spec'],
      ['team', 'a,b'],
    ]);
    const { spans } = collector;
    expect(spans.map(({ name }) => name)).to.deep.equal(['attempt 1', 'task a', 'wave 0', 'run held']);
    expect(spans.map(({ parentSpanId }) => parentSpanId)).to.deep.equal([
      ...spans.slice(1).map(({ spanId }) => spanId),
      undefined,
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId))).to.have.property('size', 1);
    expect(spans[3]?.attributes).to.deep.include({ key: 'wavetrain.run.id', value: { stringValue: runId } });
    for (const { startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(startTimeUnixNano).to.equal(`${began}000000`);
      expect(endTimeUnixNano).to.equal(`${began + 1500}000000`);
    }
    expect(warnings).to.deep.equal([]);
    expect(clock.pending).to.equal(0);
  });

  it('exports the spans of a running run when it closes', async () => {
    collector = await Collector.open(200);
    const tracing = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const { onEvent, onAttempt } = tracing;
    const held = new ControlledRuns({ clock, onEvent, onAttempt });
    const runId = await held.submit();
    await tracing.close();
    expect(collector.spans.map(({ name }) => name)).to.deep.equal([
      'attempt 1',
      'task a',
      'wave 0',
      'run held',
    ]);
    await held.complete(runId);
    expect(warnings).to.deep.equal([]);
  });

  it('closes within its time limit if the collector does not respond, and warns about lost traces', async () => {
    collector = await Collector.open(200);
    const silent = {
      onStart() {},
      onEnd() {},
      forceFlush: async () => {},
      shutdown: () => deferred<void>().promise,
    };
    const tracing = await open(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      { exporter: () => new InMemorySpanExporter(), processor: () => silent },
    );
    await run(tracing);
    const closed = tracing.close();
    clock.advance(2999);
    expect(warnings).to.deep.equal([]);
    clock.advance(1);
    await closed;
    expect(warnings).to.deep.equal(['the last traces were not sent: no response within 3 s']);
  });

  it('reports why the collector rejected the last traces', async () => {
    collector = await Collector.open(400);
    const tracing = await open({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path` });
    await run(tracing);
    await tracing.close();
    expect(collector.deliveries.map(({ path }) => path)).to.deep.equal(['/own/path']);
    expect(warnings).to.deep.equal(['the last traces were not sent: Bad Request']);
    expect(clock.pending).to.equal(0);
  });

  it('reports an export problem once, as a sentence', async () => {
    collector = await Collector.open(200);
    const exporter = new InMemorySpanExporter();
    exporter.export = (_spans, done) => done({ code: 1, error: new Error('the "collector" is away') });
    const tracing = await open(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      { exporter: () => exporter, processor: () => new SimpleSpanProcessor(exporter) },
    );
    await run(tracing);
    await settle();
    expect(warnings).to.deep.equal(['traces: the "collector" is away']);
    await tracing.close();
  });

  it('starts nothing by default, and rejects an endpoint that is not a URL', async () => {
    collector = await Collector.open(200);
    const options = { clock, warn: () => {} };
    expect(await openTracing({}, options)).to.equal(undefined);
    const asked = openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, options);
    expect(await catchRejection(asked)).to.include({ code: 'bad_usage' });
  });
});
