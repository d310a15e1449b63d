// A worker process that never becomes ready.
process.on('message', () => undefined);
process.on('disconnect', () => process.exit());
