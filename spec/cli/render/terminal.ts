import type { Terminal } from '../../../lib/cli/render/terminal.js';

/** Creates a terminal of 80 by 24 without colours. */
export function createTerminal(changes: Partial<Terminal> = {}): Terminal {
  return {
    interactive: true,
    columns: 80,
    rows: 24,
    colours: false,
    unicode: true,
    canRedraw: true,
    ...changes,
  };
}
