import { expect } from 'chai';
import { type ActorRefLike, createActor, type InspectionEvent } from 'xstate';
import { runPorts } from '../../machines/ports.js';
import { runMachine } from '../../machines/run.js';
import { FakeRunPorts } from '../support/runs/fake-ports.js';

/** The same machine as XState makes it of the same chart: `provide` copies nothing but the chart. */
const WITHOUT_SHORTCUT = runMachine.provide({});

interface InspectedRun {
  readonly send: (type: 'begin' | 'cancel' | 'force') => void;
  readonly ports: FakeRunPorts;
}

type Drive = (run: InspectedRun) => void;

const DRIVES: Record<string, Drive> = {
  'succeeds after two waves': ({ send, ports }) => {
    send('begin');
    for (const task of ['a', 'b', 'c']) ports.succeed(task);
  },
  fails: ({ send, ports }) => {
    send('begin');
    ports.fail('a');
    ports.succeed('b');
  },
  'is cancelled while it is queued': ({ send }) => send('cancel'),
  'drains after a cancel': ({ send, ports }) => {
    send('begin');
    send('cancel');
    for (const task of ['a', 'b']) ports.succeed(task);
  },
  'is stopped by force': ({ send }) => {
    send('begin');
    send('force');
  },
};

describe('the shortcut into the first state of runMachine', () => {
  for (const [name, drive] of Object.entries(DRIVES)) {
    it(`shows an inspector the same events as the machine without it, in a run that ${name}`, () => {
      const expected = inspect(WITHOUT_SHORTCUT, drive);
      expect(expected.map(({ type }) => type))
        .to.include('@xstate.microstep')
        .and.include('@xstate.action');
      expect(inspect(runMachine, drive)).to.deep.equal(expected);
    });
  }

  it('is not in the machine that it is compared with', () => {
    expect(runMachine).to.have.own.property('getInitialSnapshot');
    const sources = [runMachine, WITHOUT_SHORTCUT].map((machine) =>
      String(Reflect.get(machine, 'getInitialSnapshot')),
    );
    expect(sources[0]).to.not.equal(sources[1]);
  });
});

/** Collects what an inspector receives, as JSON, with actors named in the order in which they appear. */
function inspect(machine: typeof runMachine, drive: Drive): { readonly type: string }[] {
  const names = new Map<string, string>();
  const name = ({ sessionId }: ActorRefLike): string => {
    if (!names.has(sessionId)) names.set(sessionId, `actor ${names.size}`);
    return names.get(sessionId) ?? '';
  };
  const seen: { readonly type: string }[] = [];
  const onEvent = ({ actorRef, rootId, ...event }: InspectionEvent): void => {
    const source = 'sourceRef' in event && event.sourceRef ? name(event.sourceRef) : undefined;
    const text = JSON.stringify({ ...event, sourceRef: source }).replaceAll(`"${rootId}"`, '"root"');
    seen.push({ ...JSON.parse(text), actor: name(actorRef) });
  };
  const ports = new FakeRunPorts();
  const actor = createActor(machine, { input: { waves: [['a', 'b'], ['c']] }, inspect: onEvent });
  runPorts.bind(actor, ports);
  actor.start();
  drive({ send: (type) => actor.send({ type }), ports });
  const last: object = actor.getPersistedSnapshot();
  seen.push({ type: 'the persisted snapshot', ...last });
  return seen;
}
