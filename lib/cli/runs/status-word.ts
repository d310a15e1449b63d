import type { RunStatus } from '../../../machines/vocabulary.js';
import type { Paint, Style } from '../style.js';

const PAINTS: Readonly<Record<RunStatus, (style: Style) => Paint>> = {
  queued: ({ dim }) => dim,
  running: ({ cyan }) => cyan,
  succeeded: ({ green }) => green,
  failed: ({ red }) => red,
  cancelled: ({ yellow }) => yellow,
};

/** How a status is painted wherever it stands. */
export function paintOf(status: RunStatus, style: Style): Paint {
  return PAINTS[status](style);
}
