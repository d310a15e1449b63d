import { expect } from 'chai';
import { mkdirSync } from 'node:fs';
import { environmentSecrets } from '../../../../lib/definition/secrets/sources.js';
import type { ErrorBody } from '../../../../lib/http/schemas/error.js';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import { createDisk, MemoryStore } from '../../../runs/store/memory/memory-store.js';
import { startTestServer, type TestServer } from '../../../support/http/test-server.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { LETTER, LETTER_PIPELINES, LETTER_YAML } from '../../support/plans.js';
import { suiteServer } from '../../support/suite-server.js';

const YAML = `# Why this is done
pipeline:
  goal: g   # before the id
  id: commented
  tasks: [{id: a, tool: mock, inputs: {x: 1}}]
`;

type ShownText = Pick<EditableDefinition, 'yaml' | 'yaml_source'>;

async function post<T = { run_id: string }>(server: TestServer, path: string, body: object): Promise<T> {
  return (await server.request<T>('POST', path, body)).body;
}

/** Submits a definition, and waits until its run has settled. */
async function submit(server: TestServer, path: string, body: object): Promise<string> {
  const { run_id } = await post(server, path, body);
  expect(run_id, JSON.stringify(body)).to.be.a('string');
  await server.registry.settled(run_id);
  return run_id;
}

async function shownText(server: TestServer, runId: string): Promise<ShownText> {
  const { body } = await server.request<EditableDefinition>('GET', `/pipelines/runs/${runId}/definition`);
  return { yaml: body.yaml, yaml_source: body.yaml_source };
}

const submitted = (yaml: string): ShownText => ({ yaml, yaml_source: 'submitted' });

describe('The text that a run was submitted with (D59)', () => {
  const server = suiteServer();

  it('is shown with its comments, YAML or JSON, and makes the same run again', async () => {
    const json = '{"tasks": [{"tool": "mock", "id": "a"}], "id": "j", "goal": "g"}';
    for (const yaml of [YAML, json]) {
      const runId = await submit(server, '/pipelines/run_async', { yaml });
      expect(await shownText(server, runId)).to.deep.equal(submitted(yaml));
      const preview = `/pipelines/runs/${runId}/rerun/preview`;
      expect((await post<ErrorBody>(server, preview, { yaml })).detail.code).to.equal('nothing_to_rerun');
    }
  });

  it('has durations as they were written, as the definition and the options have (D82)', async () => {
    const fields = { timeout: '1m30s', retry: 1, retry_delay: '250ms', cache: { ttl: '1h' } };
    const pipeline = { id: 'd', goal: 'g', keep: '7d', tasks: [{ id: 'a', tool: 'mock', ...fields }] };
    const options = { per_task_timeout: '5m', max_retry_delay: '10s' };
    const runId = await submit(server, '/pipelines/run_async', { pipeline, options });
    const { body } = await server.request<EditableDefinition>('GET', `/pipelines/runs/${runId}/definition`);
    expect(body.definition).to.deep.equal(pipeline);
    expect(body.options).to.deep.equal(options);
    for (const text of ['keep: "7d"', 'timeout: "1m30s"']) expect(body.yaml).to.include(text);
    const wrong = { pipeline, options: { per_task_timeout: '5 minutes' } };
    expect((await post<ErrorBody>(server, '/pipelines/run_async', wrong)).detail).to.deep.include({
      code: 'invalid_options',
      message: 'per_task_timeout: "5 minutes" is no duration: write seconds, or 30s, 5m, 1h30m, 2d',
    });
  });

  it('is that of a plan with its pipelines in it; otherwise YAML is generated that has them', async () => {
    const whole = await submit(server, '/plans/run_async', { yaml: LETTER_YAML });
    expect(await shownText(server, whole)).to.deep.equal(submitted(LETTER_YAML));
    const yaml = JSON.stringify({ plan: LETTER });
    const divided = await submit(server, '/plans/run_async', { yaml, pipelines: LETTER_PIPELINES });
    const shown = await shownText(server, divided);
    expect(shown.yaml_source).to.equal('generated');
    expect(shown.yaml).to.include('greeting').and.include('pipeline:');
  });

  it('stays with a rerun, unless that brings another definition (D60)', async () => {
    const runId = await submit(server, '/pipelines/run_async', { yaml: YAML });
    const rerun = (body: object) => submit(server, `/pipelines/runs/${runId}/rerun`, body);
    expect(await shownText(server, await rerun({}))).to.deep.equal(submitted(YAML));
    const changed = `${YAML.replace('x: 1', 'x: 2')}# two\n`;
    expect(await shownText(server, await rerun({ yaml: changed }))).to.deep.equal(submitted(changed));
    const pipeline = { id: 'commented', goal: 'g', tasks: [{ id: 'a', tool: 'mock', inputs: { x: 3 } }] };
    const { yaml, yaml_source } = await shownText(server, await rerun({ pipeline }));
    expect([yaml?.slice(0, 14), yaml_source]).to.deep.equal(['id: commented\n', 'generated']);
  });
});

describe('The text of a file of the server (D69)', () => {
  it('is shown of its runs, also when the file has changed since', async () => {
    const folder = new TemporaryFolder();
    mkdirSync(folder.at('pipelines'), { recursive: true });
    folder.write('pipelines/commented.yaml', YAML);
    const server = await startTestServer({ env: { SERVICE_PIPELINES: folder.at('pipelines') } });
    try {
      await server.restored;
      const runId = await submit(server, '/pipelines/commented/run_async', {});
      folder.write('pipelines/commented.yaml', YAML.replace('x: 1', 'x: 2'));
      expect(await shownText(server, runId)).to.deep.equal(submitted(YAML));
    } finally {
      await server.close(0);
      folder.remove();
    }
  });
});

describe('The text that a run with secrets was submitted with (D61)', () => {
  it('is shown when it has no value of a secret, however that is written', async () => {
    const server = await startTestServer({ secrets: environmentSecrets({ TOKEN: 'hunter22' }) });
    const yaml = (more: string): string =>
      `# Comment\nid: p\ngoal: g\ntasks:\n  - id: a\n    tool: mock\n    inputs: {x: "{{secrets.TOKEN}}", y: ${more}}\n`;
    try {
      const plain = yaml('1');
      const runId = await submit(server, '/pipelines/run_async', { yaml: plain });
      expect(await shownText(server, runId)).to.deep.equal(submitted(plain));
      for (const hiding of [
        yaml('"hunter22"'),
        `# hunter22\n${plain}`,
        yaml('"hunter\\x322"'),
        yaml('"hunt\\\n      er22"'),
      ]) {
        const hidden = await submit(server, '/pipelines/run_async', { yaml: hiding });
        const shown = await shownText(server, hidden);
        expect(shown.yaml_source, hiding).to.equal('generated');
        expect(shown.yaml, hiding)
          .to.match(/^id: p\n/)
          .and.not.include('hunt');
      }
    } finally {
      await server.close(0);
    }
  });
});

describe('The text that a run was submitted with, after a restart (D68)', () => {
  it('is the same; of a run that an earlier version has kept, YAML is generated', async () => {
    const disk = createDisk();
    const first = await startTestServer({ store: new MemoryStore(disk) });
    await first.restored;
    const runId = await submit(first, '/pipelines/run_async', { yaml: YAML });
    const old = await submit(first, '/pipelines/run_async', { yaml: YAML });
    const rerun = await submit(first, `/pipelines/runs/${runId}/rerun`, {});
    await first.close(0);
    const [submission = '', ...facts] = disk.documents.get(old) ?? [];
    const { submitted_text, ...before } = JSON.parse(submission) as Record<string, unknown>;
    expect(submitted_text).to.equal(YAML);
    disk.documents.set(old, [JSON.stringify(before), ...facts]);
    const second = await startTestServer({ store: new MemoryStore(disk) });
    try {
      await second.restored;
      for (const id of [runId, rerun]) expect(await shownText(second, id)).to.deep.equal(submitted(YAML));
      const { yaml, yaml_source } = await shownText(second, old);
      expect([yaml?.slice(0, 8), yaml_source]).to.deep.equal(['goal: g\n', 'generated']);
    } finally {
      await second.close(0);
    }
  });
});
