import { appendFileSync } from 'node:fs';
import { defineTool, type Json, type ToolContext } from 'wavetrain';
import type { Call } from './server.js';

/** Where calls are written down, in the process that is killed. */
const FILE = process.env['KILL_CALLS'] ?? '/dev/null';
/** The process kills itself when it has written so many lines; 0: never. */
const KILL_AT = Number(process.env['KILL_AT'] ?? 0);
let lines = 0;

function writeDown(phase: Call['phase'], tool: string, context: ToolContext): void {
  const { attempt, invocation_key: key } = context;
  const call: Call = { tool, attempt, key, phase, at: Date.now() };
  appendFileSync(FILE, `${JSON.stringify(call)}\n`);
  if (++lines === KILL_AT) process.kill(process.pid, 'SIGKILL');
}

/** Works for some milliseconds, fails as often as it is asked, and returns a value. */
async function work(
  tool: string,
  { ms = 5, value = null, fails = 0, key }: Readonly<Record<string, unknown>>,
  context: ToolContext,
): Promise<unknown> {
  writeDown('begin', tool, context);
  await new Promise((resolve) => {
    context.clock.setTimeout(() => resolve(undefined), ms as number);
  });
  if (context.attempt <= (fails as number)) throw new Error('as asked');
  if (key !== undefined) context.blackboard.write(key as string, value, true);
  writeDown('done', tool, context);
  return value;
}

/** Runs pipelines one after the other, each with what the one before has returned, and fails as often as it is asked. */
async function workInSequence(
  { pipelines = [], fails = 0 }: Readonly<Record<string, unknown>>,
  { runPipeline, attempt, clock }: ToolContext,
): Promise<unknown> {
  let v: unknown = null;
  for (const pipeline of pipelines as readonly Json[]) {
    const { outputs } = await runPipeline({ pipeline, inputs: { v: v as Json } });
    v = outputs['end'];
    await new Promise((resolve) => {
      clock.setTimeout(() => resolve(undefined), 10);
    });
  }
  if (attempt <= (fails as number)) throw new Error('as asked, after its pipelines');
  return v;
}

export default [
  defineTool({
    name: 'work',
    description: 'works',
    inputs: {},
    openInputs: true,
    run: (inputs, context) => work('work', inputs, context),
  }),
  defineTool({
    name: 'work_in_sequence',
    description: 'runs pipelines one after the other',
    inputs: {},
    openInputs: true,
    run: workInSequence,
  }),
  defineTool({
    name: 'work_once',
    description: 'works, and must not be called twice',
    inputs: {},
    openInputs: true,
    repeatable: false,
    run: (inputs, context) => work('work_once', inputs, context),
  }),
];
