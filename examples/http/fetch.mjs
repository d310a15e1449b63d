// Runs over HTTP, with nothing but fetch: submit, follow the events, wait, read the outputs; then a run that fails.
//
//   npx wavetrain serve            (in another terminal)
//   node examples/http/fetch.mjs

const server = process.env.WAVETRAIN_SERVER ?? 'http://127.0.0.1:8000';

const greeting = {
  id: 'greeting',
  goal: 'greet {{params.name}}',
  params: { name: { description: 'Whom to greet' } },
  tasks: [
    { id: 'greet', tool: 'mock', inputs: { text: 'Hello, {{params.name}}!' } },
    { id: 'keep', tool: 'store', inputs: { key: 'greeting', value: '{{greet.output.inputs.text}}' } },
  ],
};
const { run_id } = await request('POST', '/pipelines/run_async', {
  pipeline: greeting,
  params: { name: 'Ada' },
});

for await (const event of readEvents(run_id)) {
  console.log(`${event.kind} ${event.task_id ?? event.status ?? event.phase}`);
}

// With wait the response comes when the run has settled, or after that many seconds: then poll again.
let record;
do {
  record = await request('GET', `/pipelines/runs/${run_id}?wait=30`);
} while (!record.settled);
console.log(`${record.status}: ${record.result.outputs.keep}`);

const failing = {
  id: 'failing',
  goal: 'show how a run fails',
  tasks: [{ id: 'load', tool: 'fail', inputs: { message: 'nothing is there' } }],
};
const { detail } = await request('POST', '/pipelines/run', { pipeline: failing });
console.log(`${detail.code}: ${detail.task_id}, ${detail.error}`);

async function request(method, path, body) {
  const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(server + path, { method, ...sent });
  return response.json();
}

/** Frames end with an empty line. To resume after a broken connection, send the last id as Last-Event-ID. */
async function* readEvents(runId) {
  const { body } = await fetch(`${server}/pipelines/runs/${runId}/events`);
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const frames = (text + chunk).split('\n\n');
    text = frames.pop();
    for (const frame of frames) {
      const lines = frame.split('\n');
      const data = lines.find((line) => line.startsWith('data: '));
      const isNamed = lines.some((line) => line.startsWith('event: '));
      if (data !== undefined && !isNamed) yield JSON.parse(data.slice('data: '.length));
    }
  }
}
