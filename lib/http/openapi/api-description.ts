import { ERROR_STATUSES } from '../errors/error-statuses.js';

/** What a client needs to know beyond single operations, in Markdown. */
export function apiDescription(): string {
  return [INTRODUCTION, STATES, EVENTS, IDEMPOTENCY, KEYS, describeErrors()].join('\n\n');
}

const INTRODUCTION = `
Runs pipelines of tool calls. A pipeline is a list of tasks; the references between tasks determine their order, and
tasks that are independent of each other run at once, in one *wave*.

There are two ways to run a pipeline:

- \`POST /pipelines/run\` responds when the run has settled, with its result or its error.
- \`POST /pipelines/run_async\` responds at once with a \`run_id\`. Then poll the record at
  \`GET /pipelines/runs/{run_id}\`, or read the events of the run.

A plan is a set of pipelines that pass values to each other through the blackboard: the keys that they store and read
determine their order. \`POST /plans/run\` and \`POST /plans/run_async\` run a plan in the same two ways. Its run is
listed under \`/pipelines/runs\` with the \`kind\` \`plan\`. The pipelines of a plan are part of its definition, or
sent with it in \`pipelines\`; the server does not read the files that a plan names.

Bodies are JSON in UTF-8. A definition may also be sent alone, as YAML (\`Content-Type: application/yaml\`). Names are in
snake_case, durations in seconds unless the name ends in \`_ms\`, and times in ISO 8601 and UTC. Responses may get
further fields; ignore unknown ones.`.trim();

const STATES = `
## States of a run

| from | when | to |
|---|---|---|
| | it is submitted | \`queued\` |
| \`queued\` | a slot is free | \`running\` |
| \`running\` | every task has succeeded | \`succeeded\`: \`result\` is set |
| \`running\` | a task has failed | \`failed\`: \`error\` and \`failures\` are set |
| \`queued\`, \`running\` | it is cancelled | \`cancelled\` |

\`succeeded\`, \`failed\` and \`cancelled\` are terminal: a run never leaves them. A cancelled run has \`settled\` when its
current wave has finished; other runs settle as they end. A run of a plan fails with its first failed sub-pipeline, and
starts no further sub-pipeline after it was cancelled.

To wait for a run, repeat \`GET /pipelines/runs/{run_id}?wait=30\` until \`settled\` is true. Each response is sent when
the run settles, or after 30 seconds. Plain polling is cheap when you send the \`ETag\` of the last response as
\`If-None-Match\`: the response to an unchanged record is 304 without a body. When the run has \`succeeded\`, read
\`result.outputs\`, or \`result.sub_results\` and \`result.blackboard\` for a plan; when it has \`failed\`, read \`error\`.
Settled runs are kept in memory; the configuration of the server limits their number and age.`.trim();

const EVENTS = `
## Events

\`GET /pipelines/runs/{run_id}/events\` returns a stream of Server-Sent Events (\`text/event-stream\`), or with
\`Accept: application/json\` the list so far. It works for every run, with or without \`collect_events\`.

    id: 4
    data: {"kind": "start", "seq": 4, "time": "2026-01-01T12:00:00.005Z", "run_id": "…", "task_id": "greet", …}

    event: end
    data: {"run_id": "…", "status": "succeeded"}

\`seq\` numbers the events of the run. To resume after a broken connection, send the last \`id\` as \`Last-Event-ID\`, as
browsers do. If older events have been dropped, an event named \`gap\` says which. A comment is sent every 15 seconds as a
heartbeat. The last event is named \`end\`: close the connection then, because the response to a further request is 204.

In a run of a plan, the events of a sub-pipeline carry its id as \`sub_pipeline\`, and events of kind \`sub_pipeline\`
report its status. When a task runs another pipeline, the events of that nested run carry \`within\`: the tasks that
contain it, outermost first, as \`task\` or \`task[item]\`.`.trim();

const IDEMPOTENCY = `
## Repeating a submission

Send \`Idempotency-Key\` (1 to 255 characters of your choice) with a request that runs a pipeline or a plan. The same key
with the same body never starts a second run: \`run_async\` returns the existing run, \`run\` its result or its error, with
\`Idempotent-Replayed: true\`. When the run is no longer kept, \`run_async\` returns its last status, and \`run\` gets 410.
With another body the key is refused with 409. Keys belong to a tenant, and outlive their runs by a day unless the server
is configured otherwise.`.trim();

const KEYS = `
## Keys

By default a server on a loopback address needs no API keys. Otherwise send \`Authorization: Bearer KEY\` or
\`X-API-Key: KEY\`. A key has tenants, whose runs it can see and start, and scopes: \`read\`, \`run\` and
\`metrics\`.`.trim();

function describeErrors(): string {
  const rows = Object.entries(ERROR_STATUSES).map(
    ([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`,
  );
  return [
    '## Errors',
    '',
    'Every error has the body `{"detail": {"code": …, "message": …}}`: `code` is stable and for programs, `message` is for people and may change.',
    '',
    '| status | code | meaning |',
    '|---|---|---|',
    ...rows.toSorted((a, b) => (a < b ? -1 : 1)),
  ].join('\n');
}
