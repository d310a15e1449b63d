import type { LiveEvent } from '../events/event.js';
import type { Fact } from './fact.js';
import { isInsideAttempt } from './nested-places.js';

/** An item of a fan-out. */
export interface FactItem {
  /** Empty for the submitted pipeline; a sub-pipeline of a plan. */
  readonly place: string;
  readonly task: string;
  readonly item: number;
}

/** `run`: everybody who looks at the run needs the fact; `nothing`: nobody does. */
export type FactSubject = FactItem | 'run' | 'nothing';

/** Returns the item whose record alone a fact changes, with the files and the pipelines of its calls. */
export function subjectOf(fact: Fact): FactSubject {
  if ('place' in fact && isInsideAttempt(fact.place)) return parseAttempt(fact.place);
  switch (fact.kind) {
    case 'succeeded':
    case 'failed':
    case 'skipped':
    case 'retry':
    case 'round':
    case 'due':
    case 'called':
      return itemOf(fact.place, fact.task, fact.item);
    case 'event':
      return subjectOfEvent(fact.event);
    case 'files': {
      const [first, ...others] = fact.files.map(({ artifact }) => artifact);
      if (first === undefined) return 'nothing';
      const isOne = others.every(({ task_id, item }) => task_id === first.task_id && item === first.item);
      return isOne ? itemOf(first.sub_pipeline, first.task_id, first.item) : 'run';
    }
    case 'exhausted':
    case 'continued':
      return 'nothing';
    default:
      return 'run';
  }
}

function subjectOfEvent(event: LiveEvent): FactSubject {
  const { sub_pipeline: place } = event as { readonly sub_pipeline?: string };
  const [outermost] = ('within' in event ? event.within : undefined) ?? [];
  if (outermost !== undefined) return parseCall(place, outermost);
  switch (event.kind) {
    case 'item':
    case 'retry':
    case 'log':
    case 'text':
    case 'usage':
      return itemOf(place, event.task_id, event.item);
    default:
      return 'run';
  }
}

/** @param place as in `extract/each[3]#1.0`, or one inside of it */
function parseAttempt(place: string): FactSubject {
  const call = place.slice(0, place.indexOf('#'));
  const slash = call.indexOf('/');
  return parseCall(slash === -1 ? '' : call.slice(0, slash), call.slice(slash + 1));
}

/** @param call as in `each[3]`; a task that is no fan-out has no item */
function parseCall(place: string | undefined, call: string): FactSubject {
  const [, task = '', item] = /^(.+)\[(\d+)\]$/.exec(call) ?? [];
  return itemOf(place, task, item === undefined ? undefined : Number(item));
}

function itemOf(place = '', task: string, item = -1): FactSubject {
  return item === -1 ? 'run' : { place, task, item };
}
