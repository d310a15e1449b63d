import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ForkEvent, ForkRequest } from './fork-server.js';
import { spawnWorker, type WorkerProgram } from './launcher.js';
import { ProgramHost } from './programs/program-host.js';

/** The program of the small process that starts the others for a {@link ForkServer}. */
const children = new Map<number, ChildProcess>();

const programs = new ProgramHost({
  onSocket: (id, socket, program) => send({ kind: 'started', id, program }, socket),
  onExit: (id, exit) => send({ kind: 'exited', id, exit }),
});

process.on('message', (request: ForkRequest) => {
  if (request.kind === 'kill') children.get(request.id)?.kill('SIGKILL');
  else if (request.kind === 'launch') launch(request.id, request.program);
  else programs.start(request.id, request.program, request.folder);
});

// The server has ended, or does not need them any more. Node.js emits no `disconnect` while the server has not confirmed a
// socket that was sent to it, so the end of the standard input says so.
process.stdin.resume().once('close', () => {
  for (const child of children.values()) child.kill('SIGKILL');
  void programs.end().then(() => process.exit());
});

// Ctrl-C and a service stop signal all processes, but a server that shuts down still finishes its runs.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);

function launch(id: number, program: WorkerProgram): void {
  const child = spawnWorker(program, 'stdin', (exit) => {
    children.delete(id);
    send({ kind: 'exited', id, exit });
  });
  if (child?.pid === undefined) return;
  children.set(id, child);
  send({ kind: 'started', id }, child.stdin as Socket);
}

/** @param socket is passed to the server, and closed here */
function send(event: ForkEvent, socket?: Socket): void {
  // A server that has just ended gets no message; its end of the channel closes.
  process.send?.(event, socket, {}, () => undefined);
}
