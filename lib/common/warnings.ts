import { errorMessage } from './errors.js';

/** Emits a warning of the Node.js process about a listener that threw. */
export function warnListenerRemoved(listener: string, thrown: unknown): void {
  warnHost(`${listener} threw and was removed: ${errorMessage(thrown)}`);
}

/** Emits a warning of the Node.js process, about what is nobody's failure and no part of a run. */
export function warnHost(message: string): void {
  process.emitWarning(message, 'WavetrainWarning');
}
