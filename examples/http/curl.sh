#!/bin/sh
# Runs over HTTP, with curl and jq: submit, follow the events, wait, read the outputs; then a run that fails.
#
#   npx wavetrain serve            (in another terminal)
#   sh examples/http/curl.sh

set -eu
server=${WAVETRAIN_SERVER:-http://127.0.0.1:8000}

# The response to a submission contains the id of the run.
submit() {
  curl -sS --fail-with-body "$server/pipelines/run_async" -H 'Content-Type: application/json' --data "$1" | jq -r .run_id
}

greeting='{
  "pipeline": {
    "id": "greeting",
    "goal": "greet {{params.name}}",
    "params": { "name": { "description": "Whom to greet" } },
    "tasks": [
      { "id": "greet", "tool": "mock", "inputs": { "text": "Hello, {{params.name}}!" } },
      { "id": "keep", "tool": "store", "inputs": { "key": "greeting", "value": "{{greet.output.inputs.text}}" } }
    ]
  },
  "params": { "name": "Ada" }
}'
run_id=$(submit "$greeting")

# Each event is a line that begins with "data: "; the stream ends with the run.
curl -sSN "$server/pipelines/runs/$run_id/events" | sed -n 's/^data: //p' |
  jq -r 'select(.kind) | [.kind, .task_id // .status // .phase] | join(" ")'

# With wait the response comes when the run has settled, or after that many seconds: then poll again.
while
  record=$(curl -sS "$server/pipelines/runs/$run_id?wait=30")
  [ "$(printf '%s' "$record" | jq .settled)" = false ]
do :; done
printf '%s' "$record" | jq -r '"\(.status): \(.result.outputs.keep)"'

# A synchronous run: status 200 with the result, or an error with its cause.
failing='{
  "pipeline": {
    "id": "failing",
    "goal": "show how a run fails",
    "tasks": [{ "id": "load", "tool": "fail", "inputs": { "message": "nothing is there" } }]
  }
}'
curl -sS "$server/pipelines/run" -H 'Content-Type: application/json' --data "$failing" |
  jq -r '.detail | "\(.code): \(.task_id), \(.error)"'
