// A thread that is asked and never answers.
require('node:worker_threads').parentPort.on('message', () => undefined);
