// A worker process that does what a spec asks for; `does` names it.
const { env, execArgv, pid } = process;
const respond = (response, isOversized = false) =>
  process.send({ kind: 'response', result: { ok: true, response }, isOversized });

const BEHAVIOURS = {
  nothing: () => undefined,
  exit: () => process.exit(3),
  environment: () => respond({ env, flags: execArgv }),
  pid: () => respond(pid),
  oversized: () => respond(pid, true),
  throw: () =>
    process.send({ kind: 'response', result: { ok: false, error: 'a bug' }, isOversized: false }),
};

process.on('message', ({ does }) => BEHAVIOURS[does]());
process.on('disconnect', () => process.exit());
process.send({ kind: 'ready' });
