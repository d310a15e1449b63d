import type { Fact } from '../../../../lib/execution/history/fact.js';
import { subjectOf } from '../../../../lib/execution/history/fact-subject.js';
import type { WantedItems, RunStore } from '../../../../lib/runs/store/run-store.js';

/** From then on, a store leaves out every fact that it may leave out for a reader of some items. */
export function readAsLittleAsPossible(store: RunStore): void {
  const { archive } = store;
  if (archive === undefined) throw new Error('the store has no archive');
  const head = archive.head.bind(archive);
  const facts = store.facts.bind(store);
  archive.head = async (runId) => {
    const found = await head(runId);
    return found && { ...found, hasItemParts: true };
  };
  store.facts = async (runId, { only } = {}) => {
    const all = await facts(runId);
    return only === undefined ? all : all.filter((fact) => 'part' in fact || isNeeded(fact, only));
  };
}

function isNeeded(fact: Fact, { place, task, first, last }: WantedItems): boolean {
  const subject = subjectOf(fact);
  if (typeof subject === 'string') return subject === 'run';
  const isOfFanOut = subject.place === place && subject.task === task;
  return !isOfFanOut || (subject.item >= first && subject.item <= last);
}
