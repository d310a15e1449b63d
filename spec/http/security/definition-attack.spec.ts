import { expect } from 'chai';
import { type ParsingRequest, TextParser } from '../../../lib/definition/parsing/text-parser.js';
import { parseText, type ParsedText } from '../../../lib/definition/text/parse-text.js';
import type { ErrorBody } from '../../../lib/http/schemas/error.js';
import type { ValidationReport } from '../../../lib/pipelines/report.js';
import { WorkerError } from '../../../lib/common/workers/protocol.js';
import { type TestServer, startTestServer } from '../../support/http/test-server.js';
import { shortenSlices } from '../../support/slices.js';

const SIZE = 250 * 1024;

function filled(part: string, head = '', tail = ''): string {
  return head + part.repeat((SIZE - head.length - tail.length) / part.length) + tail;
}

/** The texts of 250 KiB that take longest to parse. */
const WORST: Readonly<Record<string, string>> = {
  'a lone ", : }"': filled(', : }', 'id: p\n'),
  'empty entries of a list': filled(',', '[', ']'),
  'keys without values': filled('a:,', '{', '}'),
  'duplicate keys': filled('a: 1\n'),
  'unknown tags': filled('- !x y\n'),
  'closing braces': filled('}', 'a: '),
  anchors: Array.from({ length: 15_000 }, (_, index) => `- &a${index} x\n`).join(''),
};

/** Stands for the parsing process: nothing is parsed, so that a text parsed in the server would be noticed. */
class FakePool {
  readonly tenants: string[] = [];
  answer: (text: string) => ParsedText = () => {
    throw new WorkerError('timed_out', 'it ran for more than 10 s');
  };

  async run(tenantId: string, createRequest: () => ParsingRequest): Promise<ParsedText> {
    this.tenants.push(tenantId);
    return this.answer(createRequest().text);
  }

  async close(): Promise<void> {
    this.tenants.length = 0;
  }
}

describe('A server that gets definitions which take long to check', () => {
  let pool: FakePool;
  let server: TestServer;

  beforeEach(async () => {
    pool = new FakePool();
    const parser = new TextParser(pool);
    server = await startTestServer({ parseText: (text, tenantId) => parser.parse(text, tenantId) });
  });

  afterEach(() => server.close(0));

  for (const [title, yaml] of Object.entries(WORST)) {
    it(`has ${title} parsed in another process, with a time limit`, async () => {
      const { status, body } = await server.request<ValidationReport>('POST', '/pipelines/validate', {
        yaml,
      });
      expect(status).to.equal(200);
      expect(body.errors).to.deep.equal([
        'the text takes longer than 10 s to parse (send it as JSON, or split it)',
      ]);
      expect(pool.tenants).to.deep.equal(['default']);
    });
  }

  it('has long texts parsed elsewhere for every route that accepts them, also those of the pipelines in a plan', async () => {
    const yaml = filled('#\n', 'id: p\n');
    const plan = { id: 'p', sub_pipelines: [{ id: 's' }] };
    const requests = [
      ['/pipelines/validate', { yaml }],
      ['/pipelines/graph', { yaml }],
      ['/pipelines/run', { yaml }],
      ['/pipelines/run_async', { yaml }],
      ['/plans/validate', { yaml }],
      ['/plans/run', { yaml }],
      ['/plans/run_async', { yaml }],
      ['/plans/validate', { plan, pipelines: { s: yaml } }],
      ['/plans/run', { plan, pipelines: { s: yaml } }],
    ] as const;
    for (const [path, body] of requests) {
      pool.tenants.length = 0;
      const { body: response } = await server.request<ErrorBody & ValidationReport>('POST', path, body);
      expect(JSON.stringify(response), path).to.contain('takes longer than 10 s to parse');
      expect(pool.tenants, path).to.deep.equal(['default']);
    }
  });

  it('has the text that a task runs parsed elsewhere (D49)', async () => {
    const text = filled('#\n', 'id: p\n');
    const pipeline = {
      id: 'caller',
      goal: 'g',
      tasks: [
        { id: 'text', tool: 'mock', inputs: { text: '{{pipeline.inputs.text}}' } },
        { id: 'call', tool: 'run_pipeline', inputs: { pipeline: '{{text.output.inputs.text}}' } },
      ],
    };
    const body = { pipeline, inputs: { text } };
    const { body: error } = await server.request<ErrorBody>('POST', '/pipelines/run', body);
    expect(error.detail.code).to.equal('task_failed');
    expect(error.detail.message).to.contain('the text takes longer than 10 s to parse');
    expect(pool.tenants).to.deep.equal(['default']);
  });

  it('runs what was parsed elsewhere, and locates its problems in the text', async () => {
    pool.answer = parseText;
    const head = 'id: p\ngoal: g\ntasks:\n- {id: a, tool: mock, inputs: {x: 1}}\n';
    const run = await server.request('POST', '/pipelines/run', { yaml: filled('#\n', head) });
    expect(run.status).to.equal(200);
    const broken = filled('#\n', `${head}- {id: b, tool: mok}\n`);
    const { body } = await server.request<ValidationReport>('POST', '/pipelines/validate', { yaml: broken });
    expect(body.problems[0]).to.deep.include({ code: 'unknown_tool', line: 5, column: 17 });
  });

  it('answers other requests while it checks 10,000 tasks (D25)', async () => {
    shortenSlices();
    const tasks = Array.from({ length: 10_000 }, (_, index) => ({ id: `t${index}`, tool: 'mock' }));
    const pipeline = { id: 'p', goal: 'g', tasks };
    const order: string[] = [];
    const long = server.request('POST', '/pipelines/validate', { pipeline }).then(() => order.push('long'));
    const short = (async () => {
      for (let count = 0; count < 3; count++) await server.request('GET', '/health');
      order.push('short');
    })();
    await Promise.all([long, short]);
    expect(order).to.deep.equal(['short', 'long']);
  });
});
