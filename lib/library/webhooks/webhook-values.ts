import { WavetrainError } from '../../common/errors.js';
import {
  isObject,
  type Json,
  type JsonObject,
  parseJsonPointer,
  setOwn,
  subtractJsonLength,
  toJsonPointer,
} from '../../common/json/json.js';
import type { FolderEntry } from '../folder-entries.js';
import type { SubmittedValues } from '../../submission/submitter.js';
import { LIBRARY_LIMITS } from '../limits.js';

/**
 * Makes the values of a run from the body of a request: the fields that the definition maps, or else those that are params.
 * Values that the body lacks are left out.
 *
 * @throws WavetrainError `invalid_request` for a body that is no object, and `body_too_large`
 */
export function toRunValues({ good }: FolderEntry, body: unknown): SubmittedValues {
  if (body !== undefined && !isObject(body)) {
    throw new WavetrainError('invalid_request', 'the body of a webhook must be a JSON object, or none');
  }
  const { webhook } = good?.definition ?? {};
  const declared = good?.kind === 'pipeline' ? Object.keys(good.definition.params ?? {}) : [];
  const mapping =
    webhook?.params ?? Object.fromEntries(declared.map((name) => [name, toJsonPointer([name])]));
  const room = { left: LIBRARY_LIMITS.webhookValues };
  const params = pick(mapping, body, room);
  const inputs = pick(webhook?.inputs ?? {}, body, room);
  return {
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(inputs).length > 0 && { inputs }),
  };
}

/**
 * Each mapped value becomes a value of the run of its own, also one that several pointers name.
 *
 * @param room characters that further values may have
 * @throws WavetrainError `body_too_large`
 */
function pick(mapping: Readonly<Record<string, string>>, body: unknown, room: { left: number }): JsonObject {
  const values: JsonObject = {};
  for (const [name, pointer] of Object.entries(mapping)) {
    const value = resolvePointer(body, pointer);
    if (value === undefined) continue;
    room.left = subtractJsonLength(room.left, value as Json);
    if (room.left < 0) {
      const limit = `${LIBRARY_LIMITS.webhookValues / 2 ** 20} MiB`;
      throw new WavetrainError(
        'body_too_large',
        `the values that the webhook takes from the body have more than ${limit} together`,
      );
    }
    setOwn(values, name, value);
  }
  return values;
}

function resolvePointer(value: unknown, pointer: string): unknown {
  let found = value;
  for (const key of parseJsonPointer(pointer)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
