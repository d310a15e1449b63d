// A worker process that does what a spec asks for; `does` names it.
const { env, execArgv, pid } = process;
const send = require('./small-messages.cjs').connect(({ does }) => BEHAVIOURS[does]());
const respond = (response, isOversized = false) => send({ kind: 'response', isOversized }, response);

const BEHAVIOURS = {
  nothing: () => undefined,
  exit: () => process.exit(3),
  fault: () => process.kill(pid, 'SIGSEGV'),
  environment: () => respond({ env: { ...env }, flags: execArgv }),
  pid: () => respond(pid),
  oversized: () => respond(pid, true),
  throw: () => send({ kind: 'response', error: 'a bug', isOversized: false }),
};

send({ kind: 'ready' });
