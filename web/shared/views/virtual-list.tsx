import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface VirtualListProps {
  readonly count: number;
  /** Height of each row, in CSS pixels. */
  readonly rowHeight: number;
  /** Index of the row that the keys act on; -1 for none. */
  readonly active: number;
  /** Index of the row that is scrolled to; the active one unless told. */
  readonly shown?: number;
  /** Scrolls to that row when this changes. */
  readonly follow: unknown;
  readonly role: 'tree' | 'listbox';
  readonly label: string;
  /** Prefix of the ids of rows. */
  readonly name: string;
  readonly renderRow: (index: number) => ComponentChildren;
  /** Returns whether the key was used. */
  readonly onKey: (key: string) => boolean;
  /** The reader has scrolled. */
  readonly onScroll?: (isAtEnd: boolean) => void;
}

/** Rows above and below the visible ones, so that scrolling shows no gaps. */
const MARGIN = 8;

const PAGE_KEYS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** A long list of rows of one height, of which only the visible ones exist. The list has the focus, its rows do not. */
export function VirtualList(props: VirtualListProps) {
  const {
    count,
    rowHeight,
    active,
    shown = active,
    follow,
    role,
    label,
    name,
    renderRow,
    onKey,
    onScroll,
  } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element || shown < 0) return;
    const top = shown * rowHeight;
    const isAbove = top < element.scrollTop;
    const isBelow = top + rowHeight > element.scrollTop + element.clientHeight;
    if (isAbove) element.scrollTop = top;
    if (isBelow) element.scrollTop = top + rowHeight - element.clientHeight;
  }, [follow, shown, rowHeight]);

  const scrolled = (): void => {
    const element = box.current;
    if (!element) return;
    setView({ top: element.scrollTop, height: element.clientHeight });
    onScroll?.(element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight / 2);
  };
  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + MARGIN);
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
  return (
    <div
      class="virtual"
      ref={box}
      role={role}
      aria-label={label}
      aria-activedescendant={active >= first && active < last ? rowId(name, active) : undefined}
      tabIndex={0}
      onScroll={scrolled}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (onKey(event.key)) event.preventDefault();
      }}
    >
      <div class="virtual-space" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        <div
          class="virtual-window"
          role="presentation"
          style={{ transform: `translateY(${first * rowHeight}px)` }}
        >
          {indexes.map((index) => renderRow(index))}
        </div>
      </div>
    </div>
  );
}

/** The id of a row, which the list names when the keys act on it. */
export function rowId(name: string, index: number): string {
  return `${name}-${index}`;
}

/** Returns the index that a key leads to; undefined for a key that does not move. */
export function moveByKey(key: string, index: number, count: number): number | undefined {
  if (count === 0) return undefined;
  const page = 12;
  const clamp = (to: number): number => Math.max(0, Math.min(count - 1, to));
  const step = PAGE_KEYS[key];
  if (step !== undefined) return clamp(index + step);
  if (key === 'PageDown') return clamp(index + page);
  if (key === 'PageUp') return clamp(index - page);
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}
