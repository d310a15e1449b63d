// Wavetrain as a library: load a pipeline, submit it to an executor, wait for the result.
//
//   npx tsx examples/09-library/embed.ts

import { fileURLToPath } from 'node:url';
import { defineTool, LocalExecutor, loadPipeline } from 'wavetrain';

const shout = defineTool({
  name: 'shout',
  description: 'Says it louder',
  inputs: { text: { type: 'string', required: true, description: 'what to say' } },
  run: ({ text }) => text.toUpperCase(),
});

const file = fileURLToPath(new URL('pipeline.yaml', import.meta.url));
const pipeline = await loadPipeline(file, { tools: [shout] });
const executor = new LocalExecutor();
const runId = await executor.submit({ pipeline, params: { name: 'Ada' } });
const { outputs, waves_executed } = await executor.getResult(runId);

console.log(`${JSON.stringify(outputs['loud'])} after ${waves_executed} waves`);
