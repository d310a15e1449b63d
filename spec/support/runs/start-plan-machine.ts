import { type Actor, createActor, type InspectionEvent } from 'xstate';
import { planMachine } from '../../../machines/plan.js';
import type { SubPipelineNeeds } from '../../../machines/readiness.js';
import { type EventLoopBudget, runPorts } from '../../../machines/ports.js';
import type { HandlerLists } from '../../../machines/handlers.js';
import type { HandleEvent, RunActor, RunMachineInput } from '../../../machines/run.js';
import { HANDLERS_ID, planPorts, type PlanPorts } from '../../../machines/sub-runs.js';
import type { TaskResult } from '../../../machines/types.js';
import { FakeRunPorts } from './fake-ports.js';

/** Ports of a plan that the spec controls: every sub-pipeline has one wave of one task, `t`. */
export class FakePlanPorts implements PlanPorts {
  /** Ids of the sub-pipelines, in the order in which they began. */
  readonly begun: string[] = [];
  /** Ids of the sub-pipelines that were told that the plan was cancelled. */
  readonly cancelledIds: string[] = [];
  /** Ids of the sub-pipelines, in the order in which they ended. */
  readonly endOrder: string[] = [];
  readonly runs = new Map<string, RunActor>();
  readonly portsById = new Map<string, FakeRunPorts>();
  /** Ids of the sub-pipelines that were skipped, in order. */
  readonly skippedIds: string[] = [];
  /** The decisions that the spec has yet to make, by sub-pipeline id. */
  readonly undecided = new Map<string, (isSkipped: boolean) => void>();
  /** Ids of the sub-pipelines that do not begin on their own. */
  readonly waiting = new Set<string>();
  onConcluded: ((result: TaskResult) => void) | undefined;
  /** True when the spec calls `onConcluded` itself. */
  holdsConclusion = false;
  isExhausted = false;
  readonly deferred: (() => void)[] = [];

  readonly eventLoopBudget: EventLoopBudget = {
    exhausted: () => this.isExhausted,
    defer: (next) => {
      this.deferred.push(next);
    },
  };

  constructor(readonly handlers?: HandlerLists) {}

  input(id: string): RunMachineInput {
    return id === HANDLERS_ID ? { waves: [], handlers: this.handlers } : { waves: [['t']] };
  }

  beginHandlers(run: RunActor, event: HandleEvent): void {
    const ports = new FakeRunPorts();
    runPorts.bind(run, ports);
    this.portsById.set(HANDLERS_ID, ports);
    run.start();
    run.send(event);
  }

  begin(id: string, run: RunActor): void {
    const ports = new FakeRunPorts();
    runPorts.bind(run, ports);
    this.begun.push(id);
    this.runs.set(id, run);
    this.portsById.set(id, ports);
    run.start();
    if (!this.waiting.has(id)) run.send({ type: 'begin' });
  }

  decide(id: string, onDecided: (isSkipped: boolean) => void): void {
    this.undecided.set(id, onDecided);
  }

  /** Decides whether a sub-pipeline that waits for it is skipped. */
  answer(id: string, isSkipped: boolean): void {
    const onDecided = this.undecided.get(id);
    if (onDecided === undefined) throw new Error(`${id} waits for no decision`);
    this.undecided.delete(id);
    onDecided(isSkipped);
  }

  onSkipped(id: string): void {
    this.skippedIds.push(id);
  }

  cancelled(id: string): void {
    this.cancelledIds.push(id);
  }

  ended(id: string): void {
    this.endOrder.push(id);
  }

  conclude(onConcluded: (result: TaskResult) => void): void {
    this.onConcluded = onConcluded;
    if (!this.holdsConclusion) onConcluded({ ok: true });
  }

  getPorts(id: string): FakeRunPorts {
    const ports = this.portsById.get(id);
    if (ports === undefined) throw new Error(`${id} has not begun`);
    return ports;
  }

  succeed(id: string): void {
    this.getPorts(id).succeed('t');
  }

  fail(id: string): void {
    this.getPorts(id).fail('t');
  }

  /** Ids of the sub-pipelines whose task is in flight. */
  get atWork(): string[] {
    return this.begun.filter((id) => this.getPorts(id).pending.length > 0);
  }
}

export interface StartedPlanMachine {
  readonly actor: Actor<typeof planMachine>;
  readonly ports: FakePlanPorts;
}

/** Creates a plan machine with ports that the spec controls, and begins it unless `begin` is false. */
export function startPlanMachine(
  subPipelines: readonly SubPipelineNeeds[],
  options: {
    readonly concurrency?: number;
    readonly begin?: boolean;
    readonly ports?: FakePlanPorts;
    readonly inspect?: (event: InspectionEvent) => void;
  } = {},
): StartedPlanMachine {
  const { concurrency = 1, ports = new FakePlanPorts(), inspect } = options;
  const actor = createActor(planMachine, {
    input: { subPipelines, concurrency, handlers: ports.handlers },
    ...(inspect && { inspect }),
  });
  planPorts.bind(actor, ports);
  actor.start();
  if (options.begin ?? true) actor.send({ type: 'begin' });
  return { actor, ports };
}
