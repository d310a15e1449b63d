import { expect } from 'chai';
import { runToEnd } from '../../../lib/common/scheduling/steps.js';
import type { StatelyFeed, StatelyMessage } from '../../../lib/runs/inspection/stately-feed.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { ControlledPlans } from '../controlled-plans.js';
import { ControlledRuns } from '../controlled-runs.js';

const TWO_WAVES = `{id: held, goal: be held, tasks: [
  {id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}`;
const FAN_OUT = `{id: many, goal: be many, tasks: [
  {id: each, tool: controlled, parallel_over: '{{pipeline.inputs.list}}', inputs: {of: '{{item}}'}}],
  inputs: {list: [1, 2, 3]}}`;

interface Watched {
  readonly feed: StatelyFeed;
  readonly messages: StatelyMessage[];
  readonly runs: ControlledRuns;
  readonly runId: string;
}

async function watch(definition: string): Promise<Watched> {
  const runs = new ControlledRuns({}, definition);
  const runId = await runs.submit();
  const messages: StatelyMessage[] = [];
  const feed = await runs.registry.queries.actors.statelyFeed(
    runId,
    (message) => void messages.push(message),
  );
  return { feed, messages, runs, runId };
}

/** Names of actors, with the name of the parent of each. */
function treeOf(messages: readonly StatelyMessage[]): string[] {
  const names = new Map<string | undefined, string>();
  return messages.flatMap((message) => {
    if (message.type !== '@xstate.actor') return [];
    names.set(message.sessionId, message.name);
    const parent = names.get(message.parentId);
    return [parent === undefined ? message.name : `${parent} > ${message.name}`];
  });
}

describe('The Stately inspector of a run', () => {
  it('are the actors that exist already, parents before their children, with the chart of each machine', async () => {
    const { feed, messages } = await watch(TWO_WAVES);
    runToEnd(feed.announce());
    feed.close();
    expect(treeOf(messages)).to.deep.equal(['run', 'run > wave', 'wave > a']);
    const [run, wave] = messages.map((message) =>
      message.type === '@xstate.actor' ? JSON.parse(message.definition) : undefined,
    );
    expect(run).to.include({ id: 'run', initial: 'queued' });
    expect(run.states).to.include.keys('queued', 'running', 'paused', 'draining', 'succeeded');
    expect(wave).to.deep.equal({ id: 'wave' });
    expect(messages[0]).to.have.property('snapshot').that.includes({ value: 'running', status: 'active' });
    for (const message of messages) expect(message).to.include({ _version: '0.7.2' });
  });

  it('is then every event with the state after it, as it happens, and nothing after it is closed', async () => {
    const { feed, messages, runs, runId } = await watch(TWO_WAVES);
    runToEnd(feed.announce());
    const announced = messages.length;
    await runs.resolveCall(runId, 'done');
    const reported = messages.slice(announced).map((message) => {
      const { type } = message;
      if (type === '@xstate.actor') return `actor ${message.name}`;
      const event = message.event as { type: string };
      if (type === '@xstate.event') return `event ${event.type}`;
      const { value } = message.snapshot as { value: string };
      return `snapshot ${value} by ${event.type}`;
    });
    expect(reported).to.include.members([
      'event task.settled',
      'event wave.settled',
      'snapshot running by wave.settled',
      'actor b',
      'snapshot succeeded by task.settled',
    ]);
    feed.close();
    const heard = messages.length;
    runs.findCall(runId).resolve('done');
    await runs.registry.settled(runId);
    expect(messages).to.have.length(heard);
  });

  it('includes fan-outs and their items, and the runs of a plan', async () => {
    const { feed, messages } = await watch(FAN_OUT);
    runToEnd(feed.announce());
    feed.close();
    expect(treeOf(messages)).to.deep.equal([
      'run',
      'run > wave',
      'wave > each',
      'each > fan-out',
      'fan-out > 0',
      'fan-out > 1',
      'fan-out > 2',
    ]);
    const plans = new ControlledPlans([subPipelineText('one', '{id: t, tool: controlled}')]);
    const planId = await plans.submitPlan({});
    const ofPlan: StatelyMessage[] = [];
    const planFeed = await plans.registry.queries.actors.statelyFeed(
      planId,
      (message) => void ofPlan.push(message),
    );
    runToEnd(planFeed.announce());
    planFeed.close();
    expect(treeOf(ofPlan)).to.deep.equal([
      'plan',
      'plan > sub-runs',
      'sub-runs > one',
      'one > wave',
      'wave > t',
    ]);
  });

  it('reports a parent first that it has not reported, when an event comes before it is announced', async () => {
    const { feed, messages, runs, runId } = await watch(TWO_WAVES);
    await runs.resolveCall(runId, 'done');
    expect(treeOf(messages).slice(0, 3)).to.deep.equal(['run', 'run > wave', 'wave > a']);
    const before = treeOf(messages).length;
    runToEnd(feed.announce());
    expect(treeOf(messages)).to.have.length(before);
    feed.close();
  });

  it('is informed of 2,000 actors at most, and the messages about each are short, however wide the run is', async () => {
    const tasks = Array.from({ length: 4000 }, (_, task) => `{id: t${task}, tool: controlled}`);
    const { feed, messages, runs } = await watch(`{id: wide, goal: be wide, tasks: [${tasks.join()}]}`);
    runToEnd(feed.announce());
    const { calls } = runs.controlled;
    await runs.controlled.started(4000);
    for (const call of calls) call.resolve('x'.repeat(5000));
    await runs.waitUntilIdle();
    feed.close();
    expect(treeOf(messages)).to.have.length(2000);
    const longest = Math.max(...messages.map((message) => JSON.stringify(message).length));
    expect(longest).to.be.below(10_000);
  });

  it('contains no output, and of a run that has settled only its last snapshot', async () => {
    const { feed, messages, runs, runId } = await watch(
      '{id: p, goal: g, tasks: [{id: a, tool: controlled}]}',
    );
    runToEnd(feed.announce());
    runs.findCall(runId).resolve('an output');
    await runs.registry.settled(runId);
    feed.close();
    expect(JSON.stringify(messages)).to.not.include('an output');
    const later: StatelyMessage[] = [];
    const second = await runs.registry.queries.actors.statelyFeed(
      runId,
      (message) => void later.push(message),
    );
    runToEnd(second.announce());
    second.close();
    expect(later).to.have.length(1);
    expect(later[0]).to.have.property('snapshot').that.includes({ status: 'done', value: 'succeeded' });
  });

  it('has secrets replaced in messages of errors (D61)', async () => {
    const secret = 'sesame-open-4711';
    const definition = `{id: p, goal: g, tasks: [
      {id: a, tool: controlled, inputs: {key: '{{secrets.DOOR}}'}}]}`;
    const runs = new ControlledRuns({ secrets: { find: () => secret } }, definition);
    const runId = await runs.submit();
    const messages: StatelyMessage[] = [];
    const feed = await runs.registry.queries.actors.statelyFeed(
      runId,
      (message) => void messages.push(message),
    );
    expect(runs.findCall(runId).inputs).to.deep.equal({ key: secret });
    runs.findCall(runId).reject(new Error(`the door refuses ${secret}`));
    await runs.registry.settled(runId);
    feed.close();
    const text = JSON.stringify(messages);
    expect(text).to.include('the door refuses ***').and.not.include(secret);
  });
});
