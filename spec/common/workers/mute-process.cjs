// A worker process that never becomes ready.
require('./small-messages.cjs').connect(() => undefined);
