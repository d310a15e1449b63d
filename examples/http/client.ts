// Runs over HTTP, with the client: submit, follow the events, wait, read the outputs; then a run that fails.
//
//   npx wavetrain serve            (in another terminal)
//   npx tsx examples/http/client.ts

import { FailedRunError, WavetrainClient } from 'wavetrain/client';

const client = new WavetrainClient({ url: process.env['WAVETRAIN_SERVER'] ?? 'http://127.0.0.1:8000' });

const greeting = {
  id: 'greeting',
  goal: 'greet {{params.name}}',
  params: { name: { description: 'Whom to greet' } },
  tasks: [
    { id: 'greet', tool: 'mock', inputs: { text: 'Hello, {{params.name}}!' } },
    { id: 'keep', tool: 'store', inputs: { key: 'greeting', value: '{{greet.output.inputs.text}}' } },
  ],
};
const { run_id } = await client.submit({ pipeline: greeting, params: { name: 'Ada' } });

// Reconnects automatically, and ends with the run.
for await (const event of client.events(run_id)) {
  if (event.kind === 'run') console.log(`run ${event.status}`);
  if (event.kind === 'wave') console.log(`wave ${event.phase}`);
  if (event.kind === 'start' || event.kind === 'finish') console.log(`${event.kind} ${event.task_id}`);
}

const { status, result } = await client.settled(run_id);
console.log(`${status}: ${JSON.stringify(result?.outputs?.['keep'])}`);

const failing = {
  id: 'failing',
  goal: 'show how a run fails',
  tasks: [{ id: 'load', tool: 'fail', inputs: { message: 'nothing is there' } }],
};
try {
  await client.run({ pipeline: failing });
} catch (error) {
  if (!(error instanceof FailedRunError)) throw error;
  console.log(`${error.code}: ${error.task_id}, ${error.error}`);
}
