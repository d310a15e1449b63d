// A process that is asked and does as it is told, which no expression can make one do.
const { env, execArgv, pid } = process;
const say = (value, isSwollen = false) =>
  process.send({ answer: { ok: true, text: JSON.stringify(value) }, isSwollen });

const DOES = {
  nothing: () => undefined,
  exit: () => process.exit(3),
  surroundings: () => say({ env, flags: execArgv }),
  pid: () => say(pid),
  swell: () => say(pid, true),
};

process.on('message', ({ source }) => DOES[source]());
process.on('disconnect', () => process.exit());
