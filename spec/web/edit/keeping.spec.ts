import { expect } from 'chai';
import { Checker, MOST_CHECKED } from '../../../web/console/edit/session/checker.js';
import { compileDefinition } from '../../../web/console/edit/session/compilation.js';
import { Drafts, type KeptText } from '../../../web/console/edit/session/drafts.js';
import { Files } from '../../../web/console/edit/session/files.js';
import { nameKey } from '../../../web/shared/server/api-key.js';
import { Server, ServerError } from '../../../web/shared/server/server.js';
import { deferred, type Deferred, settle } from '../../support/deferred.js';
import { FakeStorage } from './fake-storage.js';

const made = (text: string): KeptText => ({ text, version: 'v1' });

describe('The drafts of the editor', () => {
  it('are there again after a reload, for each definition', () => {
    const storage = new FakeStorage();
    expect(new Drafts(storage, 'a', 'tab', () => 1).keep(made('text of a'))).to.equal('kept');
    expect(new Drafts(storage, 'a', 'tab 2', () => 2).open()?.text).to.equal('text of a');
    expect(new Drafts(storage, 'b', 'tab 2', () => 2).open()).to.equal(undefined);
  });

  it('are not overwritten by another tab unasked', () => {
    const storage = new FakeStorage();
    const [one, two] = [new Drafts(storage, 'a', '1', () => 1), new Drafts(storage, 'a', '2', () => 2)];
    one.open();
    two.open();
    expect(one.keep(made('of one'))).to.equal('kept');
    expect(two.keep(made('of two'))).to.equal('other_tab');
    expect(two.findOther()?.text).to.equal('of one');
    expect(two.keep(made('of two'), true)).to.equal('kept');
    expect(one.findOther()?.text).to.equal('of two');
  });

  it('are shown to the key alone with which they were typed', () => {
    const storage = new FakeStorage();
    const draftsOf = (key: string): Drafts =>
      new Drafts(storage, 'a', 'tab', () => 1, { owner: nameKey(key) });
    draftsOf('wt_one').keep(made('of one'));
    expect(draftsOf('wt_two').open()).to.equal(undefined);
    expect(new Drafts(storage, 'a', 'tab', () => 1).open(), 'without a key').to.equal(undefined);
    expect(draftsOf('wt_one').open()?.text).to.equal('of one');
    expect([...storage.items.keys()].join(' ')).to.not.contain('wt_one');
  });

  it('go over to the key that takes the place of another on the same page', () => {
    const storage = new FakeStorage();
    const keys = new FakeStorage();
    const server = new Server(keys, () => Promise.reject(new Error('not asked')));
    const open = (): Drafts => new Drafts(storage, 'a', 'tab', () => 1, server.owners);
    server.useKey('wt_old');
    open().keep(made('typed until the key expired'));
    server.useKey('wt_new');
    const drafts = open();
    expect(drafts.open()?.text).to.equal('typed until the key expired');
    expect(drafts.keep(made('typed until the key expired'))).to.equal('kept');
    const afterReload = new Server(keys, () => Promise.reject(new Error('not asked')));
    expect(new Drafts(storage, 'a', 'tab', () => 1, afterReload.owners).open()?.text).to.equal(
      'typed until the key expired',
    );
    expect(storage.items.size).to.equal(1);
  });

  it('give way to a newer one where there is no room, the oldest first', () => {
    const storage = new FakeStorage();
    storage.setItem('of-others', 'x'.repeat(500));
    for (const [id, at] of [
      ['middle', 2],
      ['oldest', 1],
      ['newest', 3],
    ] as const) {
      new Drafts(storage, id, '1', () => at).keep(made('x'.repeat(100)));
    }
    storage.room = [...storage.items].flat().join('').length + 50;
    expect(new Drafts(storage, 'now', '2', () => 4).keep(made('y'.repeat(100)))).to.equal('kept');
    const ids = [...storage.items.keys()].map((name) => name.replace('wavetrain-draft:', ''));
    expect(ids).to.have.members(['of-others', 'middle', 'newest', 'now']);
  });

  it('stay when a text finds no room even without them', () => {
    const storage = new FakeStorage();
    new Drafts(storage, 'a', '1', () => 1).keep(made('of a'));
    storage.room = 300;
    expect(new Drafts(storage, 'b', '1', () => 2).keep(made('x'.repeat(400)))).to.equal('full');
    expect(new Drafts(storage, 'a', '2', () => 2).open()?.text).to.equal('of a');
  });

  it('are forgotten after 30 days', () => {
    const storage = new FakeStorage();
    const day = 24 * 60 * 60 * 1000;
    new Drafts(storage, 'a', '1', () => 0).keep(made('of a'));
    new Drafts(storage, 'b', '1', () => 30 * day).open();
    expect(storage.length).to.equal(1);
    new Drafts(storage, 'b', '1', () => 30 * day + 1).open();
    expect(storage.length).to.equal(0);
  });

  it('say when the browser has no room, and survive what something else has written', () => {
    const storage = new FakeStorage();
    storage.setItem('wavetrain-draft:a', '{"text": 7');
    const drafts = new Drafts(storage, 'a', '1', () => 1);
    expect(drafts.open()).to.equal(undefined);
    storage.room = 0;
    expect(drafts.keep(made('text'))).to.equal('full');
  });
});

/** A server whose answers a spec gives, one after another. */
class HeldServer {
  readonly asked: { path: string; body: unknown; answer: Deferred<unknown> }[] = [];

  post<T>(path: string, body?: object): Promise<T> {
    const answer = deferred<unknown>();
    this.asked.push({ path, body, answer });
    return answer.promise as Promise<T>;
  }

  async answer(value: unknown): Promise<void> {
    this.asked.at(-1)?.answer.resolve(value);
    await settle();
  }

  async fail(error: Error): Promise<void> {
    this.asked.at(-1)?.answer.reject(error);
    await settle();
  }
}

const VALID = { ok: true, problems: [], stats: null };
const GRAPH = { id: 'p', goal: 'g', waves: [[{ id: 'a', tool: 'mock', fan_out: false }]], edges: [] };
const INVALID = {
  ok: false,
  stats: null,
  problems: [{ code: 'syntax', message: 'not YAML', path: '', severity: 'error' }],
};

describe('The checks of the editor', () => {
  let server: HeldServer;
  let text: string;
  let timers: { task: () => void; milliseconds: number }[];
  let checker: Checker;

  beforeEach(() => {
    server = new HeldServer();
    text = 'id: p';
    timers = [];
    checker = new Checker(server, () => ({ text, kind: 'pipeline', place: {} }), {
      set: (task, milliseconds) => timers.push({ task, milliseconds }),
      clear: (timer) => {
        if (timer > 0) timers[timer - 1] = { task: () => undefined, milliseconds: -1 };
      },
    });
  });

  async function fire(): Promise<void> {
    timers.at(-1)?.task();
    await settle();
  }

  it('wait for a pause, and never have more than one request in flight', async () => {
    checker.changed();
    checker.changed();
    expect(timers.filter(({ milliseconds }) => milliseconds > 0)).to.have.length(1);
    await fire();
    text = 'id: q';
    checker.changed();
    checker.changed();
    expect(server.asked).to.have.length(1);
    await server.answer(INVALID);
    await fire();
    expect(server.asked.map(({ body }) => body)).to.deep.equal([{ yaml: 'id: p' }, { yaml: 'id: q' }]);
  });

  it('keep the last graph while the text has errors', async () => {
    checker.changed();
    await fire();
    await server.answer(VALID);
    await server.answer(GRAPH);
    expect(checker.state.value).to.deep.include({ status: 'checked', isOk: true, isGraphCurrent: true });
    checker.changed();
    await fire();
    await server.answer(INVALID);
    const { graph, isGraphCurrent, isOk } = checker.state.value;
    expect([graph?.waves, isGraphCurrent, isOk]).to.deep.equal([GRAPH.waves, false, false]);
  });

  const drawn = (): unknown => [
    checker.state.value.graph?.id,
    checker.state.value.isGraphCurrent,
    checker.state.value.status,
  ];

  it('drop the graph when a text that cannot be read is that of another definition', async () => {
    text = 'id: p\ntasks: [{id: a, tool: mock}]';
    checker.changed();
    await fire();
    await server.answer(VALID);
    await server.answer(GRAPH);
    text = 'id: p\ntasks: [{id: b';
    checker.changed();
    await fire();
    await server.answer(INVALID);
    expect(drawn()).to.deep.equal(['p', false, 'checked']);
    text = 'id: other\ntasks: [{id: c';
    checker.changed();
    await fire();
    await server.answer(INVALID);
    expect(drawn()).to.deep.equal([undefined, false, 'checked']);
  });

  it('keep or drop the graph also of a text that the server does not check', async () => {
    checker.changed();
    await fire();
    await server.answer(VALID);
    await server.answer(GRAPH);
    const away = new ServerError(0, 'unreachable', 'the server does not answer');
    checker.changed();
    await fire();
    await server.fail(away);
    expect(drawn()).to.deep.equal(['p', true, 'unreachable']);
    text = 'id: p # changed';
    await fire();
    await server.fail(away);
    expect(drawn()).to.deep.equal(['p', false, 'unreachable']);
    text = `id: other # ${'x'.repeat(MOST_CHECKED)}`;
    await fire();
    expect(drawn()).to.deep.equal([undefined, false, 'refused']);
  });

  it('ask again, less and less often, while the server does not answer', async () => {
    checker.changed();
    const waits: number[] = [];
    for (let round = 0; round < 6; round++) {
      await fire();
      await server.fail(new ServerError(0, 'unreachable', 'the server does not answer'));
      expect(checker.state.value.status).to.equal('unreachable');
      waits.push(timers.at(-1)?.milliseconds ?? 0);
    }
    expect(waits).to.deep.equal([2000, 4000, 8000, 16_000, 30_000, 30_000]);
    await fire();
    await server.answer(INVALID);
    expect(checker.state.value.status).to.equal('checked');
  });

  it('do not send a text that is too long, and say so', async () => {
    text = `# ${'x'.repeat(MOST_CHECKED)}`;
    checker.changed();
    await fire();
    expect(server.asked).to.deep.equal([]);
    expect(checker.state.value).to.deep.include({ status: 'refused', isOk: false });
    expect(checker.state.value.reason).to.match(/longer than 256 KiB/);
  });

  it('say of which text the problems are', async () => {
    checker.changed();
    await fire();
    await server.answer(INVALID);
    expect(checker.state.value).to.deep.include({ text: 'id: p' });
    text = 'id: q';
    checker.changed();
    expect(checker.state.value).to.deep.include({ text: 'id: p' });
    await fire();
    text = 'id: r';
    checker.changed();
    await server.answer(INVALID);
    expect(checker.state.value).to.deep.include({ text: 'id: q' });
    await fire();
    await server.answer(INVALID);
    expect(checker.state.value).to.deep.include({ text: 'id: r' });
  });

  it('draw a plan from what its validation says', async () => {
    checker = new Checker(server, () => ({ text, kind: 'plan', place: {} }), {
      set: (task, milliseconds) => timers.push({ task, milliseconds }),
      clear: () => undefined,
    });
    checker.changed();
    await fire();
    const keys = [{ key: 'k', stored_by: 'a', read_by: ['b', 'a'] }];
    await server.answer({ ...VALID, stats: { wave_ids: [['a'], ['b']], keys } });
    expect(server.asked.map(({ path }) => path)).to.deep.equal(['/plans/validate?paths=true']);
    expect(checker.state.value.graph?.edges).to.deep.equal([{ from: 'a', to: 'b', kind: 'template' }]);
  });
});

/** A server that answers as a spec says. */
function serverThat(answer: (path: string, init: RequestInit) => Response): Server {
  const send = (path: unknown, init: RequestInit = {}): Promise<Response> =>
    Promise.resolve(answer(String(path), init));
  return new Server(new FakeStorage(), send);
}

describe('The files of the editor', () => {
  it('are saved only over the version that the text was made from', async () => {
    const sent: string[] = [];
    const files = new Files(
      serverThat((path, { method = 'GET', headers }) => {
        const condition = new Headers(headers);
        sent.push(
          `${method} ${path} ${condition.get('If-Match') ?? condition.get('If-None-Match') ?? ''}`.trim(),
        );
        if (method === 'PUT' && condition.get('If-Match') !== null) {
          return Response.json(
            { detail: { code: 'file_changed', message: 'it has changed' } },
            { status: 409 },
          );
        }
        return Response.json({ file: 'a b.yaml', text: 'theirs', version: 'v2', problems: [] });
      }),
    );
    expect(await files.save('a b', { text: 'mine', version: undefined, lineEnd: '\n' })).to.deep.equal({
      kind: 'saved',
      version: 'v2',
      problems: [],
    });
    expect(await files.save('a b', { ...made('mine'), lineEnd: '\n' })).to.deep.include({ kind: 'changed' });
    expect(sent).to.deep.equal([
      'PUT /pipelines/a%20b/file *',
      'PUT /pipelines/a%20b/file v1',
      'GET /pipelines/a%20b/file',
    ]);
  });

  it('are none where the server has no folder', async () => {
    const files = new Files(
      serverThat(() => Response.json({ detail: { code: 'not_found' } }, { status: 404 })),
    );
    expect(await files.list()).to.deep.equal({
      enabled: false,
      writable: false,
      pausable: false,
      pipelines: [],
      next_cursor: null,
    });
    expect(await files.read('x')).to.equal(undefined);
  });
});

describe('A compilation from the editor (D35)', () => {
  const signal = new AbortController().signal;

  it('passes its progress on, and gives the answers that were rejected', async () => {
    const rejected = [{ yaml: 'x', error: 'line 1: no' }];
    const result = { yaml_text: 'id: p', attempts: 2, repair_history: rejected, model: 'm/n', warnings: [] };
    const stream = `retry: 1000\n\nevent: progress\ndata: {"state":"drafting","attempt":1}\n\nevent: result\ndata: ${JSON.stringify(result)}\n\n`;
    const seen: string[] = [];
    const server = serverThat(() => new Response(stream));
    const written = await compileDefinition(server, 'do', ({ state }) => seen.push(state), signal);
    expect(seen).to.deep.equal(['drafting']);
    expect(written).to.deep.equal({
      kind: 'written',
      yaml: 'id: p',
      attempts: 2,
      rejected,
      model: 'm/n',
      warnings: [],
    });
  });

  it('ends with what the server has said against it', async () => {
    const refused = serverThat(() =>
      Response.json({ detail: { code: 'provider_misconfigured', message: 'no model' } }, { status: 400 }),
    );
    expect(await compileDefinition(refused, 'do', () => undefined, signal)).to.deep.equal({
      kind: 'failed',
      code: 'provider_misconfigured',
      message: 'no model',
      rejected: [],
    });
    const failing = serverThat(
      () =>
        new Response(
          'event: error\ndata: {"detail":{"code":"compile_failed","message":"gave up"},"status":422}\n\n',
        ),
    );
    expect(await compileDefinition(failing, 'do', () => undefined, signal)).to.include({
      code: 'compile_failed',
    });
  });

  it('fails when the answer ends too early', async () => {
    const server = serverThat(() => new Response('retry: 1000\n\n'));
    const error = await compileDefinition(server, 'do', () => undefined, signal).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ServerError);
  });
});
