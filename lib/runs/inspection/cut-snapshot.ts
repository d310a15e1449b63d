import type { EventObject } from 'xstate';
import { isObject, type Json } from '../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import { errorMessage } from '../../common/errors.js';
import { cutValue } from '../tasks/cut-value.js';
import type { ActorStatus } from './entry.js';

/** The state of an actor as an entry shows it. */
export interface ActorView {
  readonly state: string;
  readonly status: ActorStatus;
  readonly snapshot: Json;
}

/** The fields that snapshots of machines and of hand-written logics have in common. */
interface ReadSnapshot {
  readonly status: ActorStatus;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly machine?: unknown;
  readonly toJSON?: () => unknown;
}

/**
 * Reads the state of an actor at this moment, or from its last snapshot. Takes the same short time however much the actor
 * holds: the logics change their snapshots in place, so what is kept of one is a copy, and never the whole of it.
 */
export function viewSnapshot(snapshot: ReadSnapshot, mask: (text: string) => string): ActorView {
  const { status, value } = snapshot;
  const state = typeof value === 'string' ? value : JSON.stringify(value ?? status);
  return { state, status, snapshot: toShortJson(toPlain(snapshot), INSPECTION_LIMITS.snapshotLength, mask) };
}

/** The fields of an event besides its type. */
export function readEventData(event: EventObject, mask: (text: string) => string): Json {
  const { type: _, ...data } = event;
  return toShortJson(data, INSPECTION_LIMITS.dataLength, mask);
}

function toPlain(snapshot: ReadSnapshot): unknown {
  const { status, value, context, output, error, machine } = snapshot;
  if (machine === undefined && snapshot.toJSON !== undefined) return snapshot.toJSON();
  if (machine === undefined) return snapshot;
  return { status, value, context, output, error };
}

/** Cuts before it copies. */
function toShortJson(value: unknown, limit: number, mask: (text: string) => string): Json {
  const cut = cutValue(replaceErrors(value) as Json, limit, '', []);
  return JSON.parse(
    JSON.stringify(cut, (_, part: unknown) => (typeof part === 'string' ? mask(part) : part)),
  );
}

/** JSON would show nothing of an error. */
function replaceErrors(value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: errorMessage(value) };
  if (!isObject(value) || !(value['error'] instanceof Error)) return value;
  return { ...value, error: replaceErrors(value['error']) };
}
