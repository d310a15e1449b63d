// A worker process that misbehaves in ways that no expression can cause; `source` names the behaviour.
const { env, execArgv, pid } = process;
const respond = (value, isOversized = false) =>
  process.send({ response: { ok: true, text: JSON.stringify(value) }, isOversized });

const BEHAVIOURS = {
  nothing: () => undefined,
  exit: () => process.exit(3),
  environment: () => respond({ env, flags: execArgv }),
  pid: () => respond(pid),
  oversized: () => respond(pid, true),
};

process.on('message', ({ source }) => BEHAVIOURS[source]());
process.on('disconnect', () => process.exit());
