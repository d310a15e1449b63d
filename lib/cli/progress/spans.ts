import type { Paint, Style } from '../style.js';
import { clip, widthOf } from '../width.js';

/** A piece of a line and how it is painted. */
export type Span = readonly [paint: keyof Omit<Style, 'marks'>, text: string];

/** Paints the spans that fit into `columns`; the last one is clipped. Paint takes no room. */
export function paintLine(spans: readonly Span[], columns: number, style: Style): string {
  let line = '';
  let room = columns;
  for (const [paint, text] of spans) {
    if (room <= 0) break;
    const shown = clip(text, room);
    room -= widthOf(shown);
    line += (style[paint] satisfies Paint)(shown);
    if (shown !== text) break;
  }
  return line;
}
