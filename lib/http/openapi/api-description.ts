import { HTTP_ERROR_CODES, MEANING_OF_CODE, STATUS_OF_CODE } from '../errors/error-response.js';

/** What a client has to know beyond single operations, in Markdown. */
export function apiDescription(): string {
  return [INTRODUCTION, STATES, EVENTS, REPEATING, KEYS, errors()].join('\n\n');
}

const INTRODUCTION = `
Runs pipelines of tool calls. A pipeline is a list of tasks; what a task reads decides its place, and tasks that do
not need each other run at once, in one *wave*.

There are two ways to run one:

- \`POST /pipelines/run\` answers when the run has settled, with its result or its failure.
- \`POST /pipelines/run_async\` answers at once with a \`run_id\`. Then ask for the record at
  \`GET /pipelines/runs/{run_id}\`, or listen to the events of the run.

A plan is a set of pipelines that pass values on through the blackboard: what one stores and another reads decides
their order. \`POST /plans/run\` and \`POST /plans/run_async\` run one in the same two ways, and its runs stand among those
of pipelines, under \`/pipelines/runs\`, with \`kind\` \`plan\`. The pipelines of a plan stand in it, or come with it in
\`pipelines\`; the server reads none of the files that a plan names.

Bodies are JSON in UTF-8. Where a definition is expected, it may also be sent alone, as YAML
(\`Content-Type: application/yaml\`). Names are in snake_case, durations in seconds unless the name ends in \`_ms\`, times
in ISO 8601 and UTC. Fields may be added to answers; ignore those that you do not know.`.trim();

const STATES = `
## States of a run

| from | when | to |
|---|---|---|
| | it is submitted | \`queued\` |
| \`queued\` | there is a place for it | \`running\` |
| \`running\` | every task succeeded | \`succeeded\`: \`result\` is set |
| \`running\` | a task failed | \`failed\`: \`error\` and \`failures\` are set |
| \`queued\`, \`running\` | it is cancelled | \`cancelled\` |

\`succeeded\`, \`failed\` and \`cancelled\` are terminal: a run in one of them stays there. A cancelled run finishes the wave at work before it has
\`settled\`; the others settle as they end. A run of a plan fails with its first sub-pipeline that does, and begins no
further one when it is cancelled.

To wait for a run: \`GET /pipelines/runs/{run_id}?wait=30\`, again and again until \`settled\` is true. Each request is
answered when the run settles, or after 30 seconds. Plain polling is cheap with the \`ETag\` of the last answer in
\`If-None-Match\`: an unchanged record is answered with 304 and no body. On \`succeeded\` read \`result.outputs\`, or
\`result.sub_results\` and \`result.blackboard\` of a plan, on \`failed\` read \`error\`. Settled runs are kept for a time and a number that the server is configured with, in memory.`.trim();

const EVENTS = `
## Events

\`GET /pipelines/runs/{run_id}/events\` is a stream of Server-Sent Events (\`text/event-stream\`), or the list so far with
\`Accept: application/json\`. It works for every run, whether or not \`collect_events\` was set.

    id: 4
    data: {"kind": "start", "seq": 4, "time": "2026-01-01T12:00:00.005Z", "run_id": "…", "task_id": "greet", …}

    event: end
    data: {"run_id": "…", "status": "succeeded"}

\`seq\` counts the events of the run. After a broken connection send the last \`id\` as \`Last-Event-ID\`, as browsers do by
themselves, and the stream goes on behind it. An event named \`gap\` tells that some are kept no longer. A comment
comes every 15 seconds as a heartbeat. The event named \`end\` is the last one: close then, or you are answered 204.

In a run of a plan, the events of a sub-pipeline carry its id as \`sub_pipeline\`, and events of the kind \`sub_pipeline\`
tell its statuses. When a task runs a pipeline of its own, the events of that carry \`within\`: the tasks that they
happened in, the outermost first, as \`task\` or \`task[item]\`.`.trim();

const REPEATING = `
## Repeating a submission

Send \`Idempotency-Key\` (1 to 255 characters of your choice) with \`POST /pipelines/run_async\` or
\`POST /plans/run_async\`. The same key with the
same body answers the run that there is, with \`Idempotent-Replayed: true\`; with another body it is refused with 409.
Keys are kept as long as their runs, for each tenant.`.trim();

const KEYS = `
## Keys

A server on the loopback address needs none by default. Else send \`Authorization: Bearer KEY\` or \`X-API-Key: KEY\`. A
key has tenants, whose runs it sees and starts, and scopes: \`read\`, \`run\`, \`metrics\`.`.trim();

function errors(): string {
  const rows = HTTP_ERROR_CODES.map(
    (code) => `| ${STATUS_OF_CODE[code]} | \`${code}\` | ${MEANING_OF_CODE[code]} |`,
  );
  return [
    '## Errors',
    '',
    'Every error has the body `{"detail": {"code": …, "message": …}}`: `code` is for programs and stays, `message` is for people and may change.',
    '',
    '| status | code | meaning |',
    '|---|---|---|',
    ...rows.toSorted((a, b) => (a < b ? -1 : 1)),
  ].join('\n');
}
