import { expect } from 'chai';
import { Client, type ProtocolEra } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../lib/common/json/json.js';
import { requireBuild, ROOT } from '../../project/files.js';
import { catchRejection } from '../../support/rejection.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const PIPELINE = `
pipeline:
  id: p
  goal: g
  tasks:
    - {id: a, tool: mock, inputs: {value: "{{pipeline.inputs.word}}"}}
    - {id: b, tool: mock, inputs: {value: "{{a.output}}"}}
  inputs: {word: hi}
`;

const FAN_OUT = {
  pipeline: {
    id: 'f',
    goal: 'g',
    tasks: [
      { id: 'a', tool: 'transform', inputs: { input: 1, expression: '[1..3]' } },
      { id: 'b', tool: 'mock', parallel_over: '{{a.output}}', inputs: { value: '{{item}}' } },
    ],
  },
};

interface Called {
  readonly isError: boolean;
  readonly value: JsonObject;
}

describe('wavetrain mcp (D43)', () => {
  before(() => requireBuild());
  let folder: TemporaryFolder;
  let client: Client;
  let transport: StdioClientTransport;
  /** Variables of the command besides the usual ones. */
  let environment: Record<string, string> = {};

  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('p.yaml', PIPELINE);
  });

  afterEach(async () => {
    await client.close();
    folder.remove();
    environment = {};
  });

  async function connect(
    mode: 'legacy' | 'auto' = 'legacy',
    ...flags: string[]
  ): Promise<ProtocolEra | undefined> {
    client = new Client({ name: 'spec', version: '1' }, { versionNegotiation: { mode } });
    transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(ROOT, 'bin/wavetrain.js'), 'mcp', ...flags],
      cwd: folder.path,
      env: { ...getDefaultEnvironment(), ...environment },
      stderr: 'pipe',
    });
    await client.connect(transport);
    return client.getProtocolEra();
  }

  async function call(name: string, args: JsonObject, options = {}): Promise<Called> {
    const result = await client.callTool({ name, arguments: args }, options);
    return { isError: result.isError ?? false, value: result.structuredContent as JsonObject };
  }

  for (const mode of ['legacy', 'auto'] as const) {
    it(`serves hosts of both protocol versions, here ${mode}`, async () => {
      expect(await connect(mode)).to.equal(mode === 'auto' ? 'modern' : 'legacy');
      const { tools } = await client.listTools();
      expect(
        tools.map(({ name, annotations: hints }) => [name, hints?.readOnlyHint, hints?.openWorldHint]),
      ).to.deep.equal([
        ['validate', true, false],
        ['run', false, true],
        ['compile', true, true],
        ['tools', true, false],
        ['runs', true, false],
      ]);
      expect((await call('validate', { file: 'p.yaml' })).value).to.include({ ok: true });
    });
  }

  it('validates a file, a text or an object, and reports problems with their positions', async () => {
    await connect();
    const { value, isError } = await call('validate', { pipeline: PIPELINE.replace('mock', 'mok') });
    expect({ ok: value['ok'], isError }).to.deep.equal({ ok: false, isError: false });
    expect(value).to.have.nested.property('problems[0].line', 6);
    expect((await call('validate', { pipeline: FAN_OUT })).value).to.include({ ok: true });
  });

  it('starts no programs, whatever its environment allows (D88)', async () => {
    const tasks = [{ id: 'a', tool: 'command', inputs: { run: ['touch', folder.at('started')] } }];
    environment = { SERVICE_COMMANDS: '*' };
    await connect();
    const { isError, value } = await call('run', { pipeline: { pipeline: { id: 'c', goal: 'g', tasks } } });
    expect(isError).to.equal(true);
    expect(value['error']).to.contain('"touch" may not be started (no program is allowed here)');
    expect(existsSync(folder.at('started'))).to.equal(false);
  });

  it('compiles a description into a pipeline, and says what was repaired or why there is none', async () => {
    const yaml = (tool: string): string =>
      `pipeline:\n  id: c\n  goal: g\n  tasks:\n    - id: a\n      tool: ${tool}\n`;
    const answers = [yaml('mok'), yaml('mock'), '# cannot: no tool makes tea'];
    const lines = answers.map((text, i) => JSON.stringify({ prompt: i < 2 ? 'mocks' : 'tea', text }));
    folder.write('answers.jsonl', lines.join('\n'));
    await connect();
    const model = 'mock/recorded';
    const made = await call('compile', { prompt: 'Call mocks', model });
    expect(made.isError).to.equal(false);
    expect(made.value).to.include({ kind: 'pipeline', yaml_text: yaml('mock'), attempts: 2 });
    const refused = await call('compile', { prompt: 'Make tea', model });
    expect(refused.isError).to.equal(true);
    expect(refused.value['error']).to.contain('no tool makes tea');
    expect((await call('compile', { prompt: 'x', model: 'openai/x' })).value['error']).to.contain(
      'OPENAI_API_KEY',
    );
  });

  it('runs a file with inputs, and reports progress when the host asks for it', async () => {
    await connect();
    const reports: unknown[] = [];
    const options = { onprogress: (progress: unknown) => void reports.push(progress) };
    const { value } = await call('run', { file: 'p.yaml', inputs: { word: 'you' } }, options);
    expect(value).to.include({ status: 'succeeded' });
    expect(value).to.have.nested.property('result.outputs.a.inputs.value', 'you');
    expect(reports[0]).to.deep.equal({ progress: 1, total: 2, message: 'a finished' });
  });

  it('runs a fan-out, and shows runs, their tasks, and one task', async () => {
    await connect();
    const { value } = await call('run', { pipeline: FAN_OUT });
    const run_id = value['run_id'] as string;
    expect((await call('runs', {})).value).to.have.nested.property('runs[0].run_id', run_id);
    expect((await call('runs', { run_id })).value).to.have.nested.property('tasks[1].items.total', 3);
    expect((await call('runs', { run_id, task_id: 'a' })).value['output']).to.deep.equal([1, 2, 3]);
    expect(await call('runs', { run_id: 'none' }))
      .to.have.nested.property('value.error')
      .that.contains('no run none');
  });

  it('marks a run that fails, and one that is not valid, as an error', async () => {
    await connect();
    const failing = { pipeline: { id: 'x', goal: 'g', tasks: [{ id: 'a', tool: 'fail' }] } };
    const failed = await call('run', { pipeline: failing });
    expect(failed.isError).to.equal(true);
    expect(failed.value).to.have.nested.property('failures[0].task_id', 'a');
    expect((await call('run', { pipeline: 'x: 1' })).value).to.include({ ok: false });
    expect((await call('run', {})).value).to.deep.equal({
      error: 'give either "file" or "pipeline"',
      code: 'bad_usage',
    });
    expect((await call('run', { fil: 'x' })).value).to.deep.equal({ error: 'there is no input "fil"' });
    expect((await call('walk', {})).value['error']).to.contain('there is no tool "walk"');
  });

  it('reads no file outside of the working directory (D51)', async () => {
    await connect();
    for (const file of ['/etc/hosts', `${'../'.repeat(20)}etc/hosts`]) {
      const { isError, value } = await call('validate', { file });
      expect(isError).to.equal(true);
      expect(value['error']).to.match(/outside the allowed folders|a path|no such file/);
    }
  });

  it('cancels a run whose call the host cancels', async () => {
    await connect();
    const slow = {
      pipeline: { id: 's', goal: 'g', tasks: [{ id: 'z', tool: 'sleep', inputs: { seconds: 600 } }] },
    };
    const quick = { id: 'q', tool: 'mock' };
    const controller = new AbortController();
    const running = call(
      'run',
      { pipeline: { pipeline: { ...slow.pipeline, tasks: [...slow.pipeline.tasks, quick] } } },
      // The first task has finished: the run is at work.
      { signal: controller.signal, onprogress: () => controller.abort() },
    );
    await catchRejection(running);
    let status: unknown;
    while (status === undefined) {
      const { value } = await call('runs', {});
      status = (value['runs'] as JsonObject[])[0]?.['status'];
    }
    expect(status).to.equal('cancelled');
  });

  it('calls tools of other MCP servers in turn, and keeps standard output for its answers', async () => {
    const server = { command: process.execPath, args: [join(ROOT, 'spec/tools/mcp/fake-server.mjs')] };
    folder.write('mcp.json', JSON.stringify({ mcpServers: { fake: server } }));
    folder.write(
      'tools.mjs',
      `export const loud = { name: 'loud', inputs: {}, run: () => { console.log('on standard output'); return 1; } };`,
    );
    await connect('legacy', '--mcp', 'mcp.json', '--tools', 'tools.mjs');
    const tasks = [
      { id: 'a', tool: 'mcp.fake.echo', inputs: { text: 'hi' } },
      { id: 'b', tool: 'loud' },
    ];
    const { value } = await call('run', { pipeline: { pipeline: { id: 'x', goal: 'g', tasks } } });
    expect(value).to.have.deep.nested.property('result.outputs', { a: 'hi', b: 1 });
    expect((await call('tools', { name: 'mcp.fake.echo' })).value).to.include({ name: 'mcp.fake.echo' });
  });
});
