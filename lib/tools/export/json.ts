import { isObject, type Json } from '../../common/json.js';
import type { Steps } from '../../common/steps.js';

const MEMBERS_PER_STEP = 500;

/** Writes JSON indented by 2, a few members of the outermost list or object at a time. */
export function* toJsonTextInSteps(data: Json): Steps<string> {
  const members = Array.isArray(data) ? data : isObject(data) ? Object.values(data) : [];
  if (members.length === 0) return JSON.stringify(data, null, 2);
  const keys = Array.isArray(data) ? undefined : Object.keys(data as object);
  const parts: string[] = [];
  for (const [index, member] of members.entries()) {
    if (index % MEMBERS_PER_STEP === MEMBERS_PER_STEP - 1) yield;
    const key = keys === undefined ? '' : `${JSON.stringify(keys[index])}: `;
    parts.push(`  ${key}${JSON.stringify(member, null, 2).replaceAll('\n', '\n  ')}`);
  }
  const [open, close] = keys === undefined ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${close}`;
}
