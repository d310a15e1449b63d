import Type from 'typebox';
import { anyJson, count, described, flag, nullable, RunId, text, Time, titled } from './shape.js';

const path = (description: string) => Type.String({ description, examples: ['run/wave/summary'] });

export const InspectionEntrySchema = described(
  'InspectionEntry',
  'An event that an actor of the run received.',
  {
    seq: Type.Integer({ minimum: 1, description: 'Number of the entry within the run, from 1.' }),
    time: Time,
    actor: path('Where the actor is in the tree of the run.'),
    src: text('Its statechart: `run`, `wave`, `task`, `fan-out`, `item` and so on.'),
    event: text(
      'Type of the event that the actor received; `@created` when it was created, `@attached` when recording began later; `@resumed` when it was `continue` or `step`, of a run that nobody watched.',
    ),
    data: anyJson('The other fields of the event, cut.'),
    source: nullable(
      path('The actor that sent the event; null for one from outside: from a caller, a tool or a clock.'),
    ),
    from: nullable(text('The state before; null when the actor was created, and when it is not known.')),
    state: text('The state after.'),
    transition: nullable(
      Type.String({
        description:
          'Id of the edge of its statechart that was taken, the last one if there were several; null when none was, as by an event that the state ignores, and when it is not known.',
        examples: ['run.running:wave.settled:3'],
      }),
    ),
    status: Type.Enum(['active', 'done', 'error', 'stopped']),
    snapshot: anyJson('The snapshot of the actor after the event, cut to some 4,000 characters.'),
  },
);

export const InspectionListSchema = titled('InspectionList', {
  run_id: RunId,
  entries: Type.Array(InspectionEntrySchema),
  last_seq: count('Number of the newest entry.'),
  gap: flag('Entries between `after` and the first one here have been dropped.'),
  closed: flag('There will be no more entries.'),
  origin: Type.Enum(['live', 'events'], {
    description:
      '`live`: recorded while the run was at work; `events`: inferred from the events of a run that nobody watched.',
  }),
});
