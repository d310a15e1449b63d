import { expect } from 'chai';
import { readTraceSettings } from '../../lib/telemetry/tracing.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('readTraceSettings', () => {
  it('uses the endpoint for traces as it is, or else appends /v1/traces to the common one', () => {
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/own' };
    expect(readTraceSettings(ENDPOINT)?.url).to.equal('http://collector:4318/v1/traces');
    expect(readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c/base/' })?.url).to.equal(
      'http://c/base/v1/traces',
    );
    expect(readTraceSettings({ ...ENDPOINT, ...own })?.url).to.equal('https://traces/own');
  });

  for (const [what, env] of [
    ['nothing asks for traces', { OTEL_SERVICE_NAME: 'trains' }],
    ['the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['the SDK is turned off', { ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }],
    ['there is no exporter', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    ['the exporter is another', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'console,zipkin' }],
  ] as const) {
    it(`disables traces when ${what}`, () => {
      expect(readTraceSettings(env)).to.equal(undefined);
    });
  }

  it('accepts the otlp exporter by name', () => {
    expect(readTraceSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'console, otlp' })).to.include({
      url: 'http://collector:4318/v1/traces',
    });
    expect(readTraceSettings({ ...ENDPOINT, OTEL_SDK_DISABLED: 'false' })).not.to.equal(undefined);
  });

  for (const url of ['collector', 'collector:4318', 'ftp://collector', 'http://']) {
    it(`rejects the endpoint "${url}"`, () => {
      expect(() => readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url })).to.throw(
        'the environment variable OTEL_EXPORTER_OTLP_ENDPOINT must be the address of a collector, ' +
          'as in OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318',
      );
    });
  }

  it('prefers OTEL_SERVICE_NAME to service.name in OTEL_RESOURCE_ATTRIBUTES', () => {
    const named = (env: Record<string, string>): unknown =>
      readTraceSettings({ ...ENDPOINT, ...env })?.resource;
    const attributes = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=a%20b, x = 1 ,' };
    expect(named({})).to.deep.equal({ 'service.name': 'wavetrain' });
    expect(named(attributes)).to.deep.equal({ 'service.name': 'a b', x: '1' });
    expect(named({ ...attributes, OTEL_SERVICE_NAME: 'c' })).to.deep.equal({ 'service.name': 'c', x: '1' });
  });

  it('warns about settings that it ignores', () => {
    for (const text of ['a', 'a=b=c', '=b', 'a=%ZZ']) {
      expect(readTraceSettings({ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: text }), text).to.deep.include({
        resource: { 'service.name': 'wavetrain' },
        warnings: ['OTEL_RESOURCE_ATTRIBUTES is ignored: it must be a list of pairs such as a=1,b=2'],
      });
    }
    const warned = (protocol: string): unknown =>
      readTraceSettings({ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: protocol })?.warnings;
    expect(warned('grpc')).to.deep.equal([
      'traces are sent over HTTP: the endpoint must not be a gRPC endpoint',
    ]);
    expect(warned('http/json')).to.deep.equal([]);
  });
});
