import type { Api } from './api.js';

/** Sends requests that try to end the server, to slow it down, or to take what others need. */
export type Attack = (api: Api, attacker: Attacker) => Promise<void>;

export interface Attacker {
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  /** How long connections stay open and runs at work before they are given up. */
  readonly patienceMs: number;
  /** How many large files are asked for at once: each costs the server seconds. */
  readonly workbooks: number;
  /** Of a server whose answers cost those who read them. */
  readonly originUrl: string;
}

interface Submitted {
  readonly tasks: readonly unknown[];
  readonly params?: unknown;
  readonly goal?: string;
}

export function pipeline({ tasks, params, goal = 'g' }: Submitted, id = 'p'): object {
  return { pipeline: { id, goal, ...(params === undefined ? {} : { params }), tasks } };
}

export function submit(api: Api, submitted: Submitted): Promise<string> {
  return submitBody(api, pipeline(submitted));
}

/** Returns the id of the run; empty when the submission was refused. */
export async function submitBody(api: Api, body: unknown): Promise<string> {
  const { status, text } = await api.send('POST', '/pipelines/run_async', body);
  return status === 202 ? (JSON.parse(text) as { run_id: string }).run_id : '';
}

export function range<T>(count: number, create: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => create(index));
}
