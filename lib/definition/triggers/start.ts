import { isObject } from '../../common/json/json.js';
import type { Diagnostic, Findings } from '../problems/diagnostic.js';
import type { DefinitionKind } from '../schema/root.js';
import type { StartFields } from '../schema/schema.js';
import { type Hint, hintRename } from '../problems/hint.js';
import { nearest } from '../did-you-mean.js';
import { SECRET_NAME } from '../template/reference.js';
import { findCronProblem, isTimeZone, listTimeZones } from './cron.js';

/** When a server starts a definition by itself (D70). */
export interface Schedule {
  readonly cron: readonly string[];
  readonly timezone: string;
  readonly overlap: 'skip' | 'queue' | 'allow';
  readonly catchUp: boolean;
  /** True when the times of the schedule start nothing, and are not missed. */
  readonly isPaused: boolean;
}

/** The schedule of a checked definition; undefined when it has none. */
export function readSchedule(definition: StartFields): Schedule | undefined {
  const { schedule, timezone = 'UTC', overlap = 'skip' } = definition;
  if (schedule === undefined) return undefined;
  const { catch_up: catchUp = false, paused: isPaused = false } = definition;
  const cron = typeof schedule === 'string' ? [schedule] : schedule;
  return { cron, timezone, overlap, catchUp, isPaused };
}

/** Checks the fields that make a server start a definition, beyond what their schema says (D70, D71). */
export function* checkStart(definition: unknown, kind: DefinitionKind): Findings {
  if (!isObject(definition)) return;
  const { schedule, timezone, webhook } = definition;
  if (typeof schedule === 'string') yield toDiagnostic(schedule, ['schedule']);
  if (Array.isArray(schedule)) {
    // More are a problem of their own.
    for (const [index, text] of schedule.slice(0, 10).entries()) {
      yield typeof text === 'string' ? toDiagnostic(text, ['schedule', index]) : undefined;
    }
  }
  if (typeof timezone === 'string') yield checkTimeZone(timezone);
  if (schedule === undefined) yield* findIdleFields(definition);
  if (isObject(webhook)) yield* checkWebhook(webhook, definition, kind);
}

function toDiagnostic(text: string, path: Diagnostic['path']): Diagnostic | undefined {
  const problem = findCronProblem(text.slice(0, 200));
  return problem && { code: 'invalid_schedule', path, ...problem };
}

function checkTimeZone(name: string): Diagnostic | undefined {
  if (isTimeZone(name.slice(0, 100))) return undefined;
  const meant = findZoneOfCity(name) ?? nearest(name, listTimeZones());
  const message = `there is no time zone "${name.slice(0, 100)}"`;
  const otherwise = 'write a name of the IANA database, as in Europe/Berlin';
  const hint = meant === undefined ? otherwise : hintRename(name, meant);
  return { code: 'invalid_schedule', path: ['timezone'], message, hint };
}

/** People write the city alone: `Vienna`, `New York`. */
function findZoneOfCity(name: string): string | undefined {
  const city = `/${name.trim().replaceAll(' ', '_').toLowerCase()}`;
  return listTimeZones().find((zone) => zone.toLowerCase().endsWith(city));
}

function* findIdleFields(definition: Fields): Generator<Diagnostic> {
  for (const field of ['timezone', 'overlap', 'catch_up', 'paused']) {
    if (definition[field] === undefined) continue;
    const message = `"${field}" has no effect without "schedule"`;
    yield { code: 'no_effect', path: [field], at: 'key', severity: 'warning', message };
  }
}

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

type Fields = Record<string, unknown>;

function* checkWebhook(webhook: Fields, definition: Fields, kind: DefinitionKind): Generator<Diagnostic> {
  const { secret, params, inputs } = webhook;
  if (typeof secret === 'string' && !SECRET_NAME.test(secret)) {
    const hint =
      'write the name alone, in capital letters: NAME is the secret of SECRET_NAME, or NAME in the secrets file';
    yield invalidWebhook(['secret'], `"${secret.slice(0, 100)}" is not the name of a secret`, hint);
  }
  for (const [field, mapping] of Object.entries({ params, inputs })) {
    if (!isObject(mapping)) continue;
    for (const [name, pointer] of Object.entries(mapping)) {
      if (typeof pointer !== 'string' || POINTER.test(pointer)) continue;
      const hint = 'write where the value is in the body, as in /repository/name; "" is the whole body';
      yield invalidWebhook([field, name], `"${pointer.slice(0, 100)}" is not a JSON Pointer`, hint);
    }
  }
  if (!isObject(params)) return;
  if (kind === 'plan') {
    const hint = 'write the values under "inputs" of the webhook';
    return yield invalidWebhook(['params'], 'a plan has no params', hint);
  }
  const declared = isObject(definition['params']) ? Object.keys(definition['params']) : [];
  for (const name of Object.keys(params)) {
    if (declared.includes(name)) continue;
    const meant = nearest(name, declared);
    const hint = meant === undefined ? 'declare it under "params" of the pipeline' : hintRename(name, meant);
    yield invalidWebhook(['params', name], `the pipeline has no param "${name.slice(0, 100)}"`, hint);
  }
}

function invalidWebhook(path: Diagnostic['path'], message: string, hint: Hint): Diagnostic {
  return { code: 'invalid_webhook', path: ['webhook', ...path], message, hint };
}
