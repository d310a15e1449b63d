import { readModelConfig } from '../lib/common/config/model-config.js';
import { createModels } from '../lib/models/create-models.js';
import { Models } from '../lib/models/models.js';
import { createMockProvider } from '../lib/models/providers/mock.js';
import { CASES, recordedAnswers } from '../spec/compile/cases.js';
import { evaluate, formatTable } from './evaluate.js';

/** Compiles the requests of the specs with a model, and prints how many became valid: `npm run eval -- --model openai/gpt-4o`. */
const position = process.argv.indexOf('--model');
const model = (position < 0 ? undefined : process.argv[position + 1]) ?? 'mock/recorded';
const config = readModelConfig(process.env);
const models =
  model === 'mock/recorded'
    ? new Models({ config, loadProvider: async () => createMockProvider(async () => recordedAnswers()) })
    : createModels(config, { folders: [process.cwd()] });
// Some requests are for recorded answers alone: they say nothing about what the pipeline shall do.
const cases = model === 'mock/recorded' ? CASES : CASES.slice(0, 19);
process.stdout.write(`${formatTable(model, await evaluate(cases, models, model))}\n`);
