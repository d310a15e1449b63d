import { randomBytes, randomUUID } from 'node:crypto';
import type { BaseContext } from 'clipanion';
import { type Clock, systemClock } from '../common/clock.js';
import { systemEnvironment } from '../common/config.js';
import { type Services, systemServices } from './services.js';

/** Where signals and stray errors arrive: `process`, or an emitter in specs. */
export interface ProcessEvents {
  on(name: string, listener: (...details: unknown[]) => void): unknown;
  off(name: string, listener: (...details: unknown[]) => void): unknown;
}

/** What surrounds a command; specs replace any part of it. */
export type CliContext = BaseContext & {
  readonly cwd: string;
  readonly clock: Clock;
  readonly processEvents: ProcessEvents;
  /** An id that nothing else has. */
  readonly newId: () => string;
  /** Bytes that nobody can guess. */
  readonly secretBytes: (count: number) => Uint8Array;
  readonly services: Services;
};

/** The context of this process. */
export function systemContext(): CliContext {
  return {
    env: systemEnvironment(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    colorDepth: 1,
    cwd: process.cwd(),
    clock: systemClock,
    processEvents: process,
    newId: () => randomUUID(),
    secretBytes: randomBytes,
    services: systemServices,
  };
}
