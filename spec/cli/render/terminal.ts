import { createStyle, type Terminal } from '../../../lib/cli/render/terminal.js';

/** Creates a terminal of 80 by 24 without colours. */
export function createTerminal(changes: Partial<Terminal> = {}): Terminal {
  const { colours = false, unicode = true } = changes;
  return {
    interactive: true,
    columns: 80,
    rows: 24,
    colours,
    unicode,
    canRedraw: true,
    style: createStyle({ colours, unicode }),
    ...changes,
  };
}
