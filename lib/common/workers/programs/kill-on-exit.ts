import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Program } from './program-launcher.js';

/**
 * A shell that reads lines: `+ GROUP SECONDS` of a process group that begins, `- GROUP` of one that has ended. When it reads
 * no more, Wavetrain has died, and the groups have read the end of their standard input: each has its seconds to follow that,
 * and as long to follow SIGTERM.
 */
const PROGRAM = `
trap '' HUP INT TERM
groups=' '
while read -r sign group seconds; do
  if [ "$sign" = + ]; then groups="$groups$group:$seconds "
  else case "$groups" in *" $group:"*) rest="\${groups#* $group:}"; groups="\${groups%% $group:*} \${rest#* }";; esac
  fi
done
for one in $groups; do
  ( sleep "\${one#*:}"; kill -s TERM -- "-\${one%:*}"
    sleep "\${one#*:}"; kill -s KILL -- "-\${one%:*}" ) &
done
wait`;

/**
 * Has a process group end when this process has died without a word, as by SIGKILL, when no code of its own can end the
 * group. One shell waits for that on behalf of all groups, since it takes a megabyte and a millisecond. On a system without
 * shells (Windows), what the group reads on its standard input must suffice.
 *
 * @param group its leader's process id; undefined when it could not be started
 * @returns a function to be called when the group has ended
 */
export function killOnExit(group: number | undefined, { graceMs }: Pick<Program, 'graceMs'>): () => void {
  return group === undefined ? () => undefined : watch.add(group, graceMs / 1000);
}

/** The groups that this process has started, and the shell that knows them while there are some. */
class GroupWatch {
  readonly #groups = new Map<number, number>();
  #shell: ChildProcess | undefined;

  add(group: number, seconds: number): () => void {
    this.#groups.set(group, seconds);
    this.#write(`+ ${group} ${seconds}\n`);
    return () => this.#delete(group);
  }

  #delete(group: number): void {
    if (!this.#groups.delete(group)) return;
    this.#write(`- ${group}\n`);
  }

  #write(line: string): void {
    if (this.#shell === undefined) this.#start();
    else this.#shell.stdin?.write(line);
  }

  /** A shell that somebody has ended is replaced with the next group. */
  #start(): void {
    const shell = spawn('/bin/sh', ['-c', PROGRAM], {
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
    });
    const forget = (): void => {
      if (this.#shell === shell) this.#shell = undefined;
    };
    // No shell, or one that somebody has ended: nothing is lost but the watch.
    shell.once('error', forget).once('exit', forget);
    shell.unref();
    const { stdin } = shell;
    stdin.on('error', () => undefined);
    if (stdin instanceof Socket) stdin.unref();
    this.#shell = shell;
    for (const [group, seconds] of this.#groups) stdin.write(`+ ${group} ${seconds}\n`);
  }
}

const watch = new GroupWatch();
