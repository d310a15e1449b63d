import type { Tool } from '../tool.js';
import { fail } from './fail.js';
import { ingestDocument } from './ingest-document.js';
import { mock } from './basic.js';
import { runPipeline } from './run-pipeline.js';
import { sleep } from './sleep.js';
import { store } from './store.js';
import { transform } from './transform.js';

export const BUILTIN_TOOLS: readonly Tool[] = [
  fail,
  ingestDocument,
  mock,
  runPipeline,
  sleep,
  store,
  transform,
];
