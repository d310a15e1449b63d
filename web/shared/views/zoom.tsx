import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  leastScale,
  type PixelSize,
  type ScaleLimits,
  scaleOf,
  stepZoom,
  toggleFit,
  wheelZoom,
  type Zoom,
  zoomByKey,
} from '../model/zoom.js';

/** The part of a scrolled element that is visible, in CSS pixels from the start of what it contains. */
interface Viewport {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Nothing but what is around the corner is drawn before it was measured. */
const UNMEASURED: Viewport = { left: 0, top: 0, right: 0, bottom: 0 };

interface ZoomProps {
  readonly zoom: Zoom;
  readonly scale: number;
  /** The smallest scale that makes sense. */
  readonly least: number;
  readonly onZoom: (zoom: Zoom) => void;
}

/** A place in an element, in CSS pixels from its corner. */
interface Place {
  readonly x: number;
  readonly y: number;
}

/** Of wheels that turn by lines. */
const LINE_PIXELS = 16;

/**
 * The scale of a drawing in the element `box`, which scrolls it, and what of it is visible. The middle stays in its
 * place when the scale changes. The wheel with the Ctrl key, which is also what a pinch is, zooms around the pointer.
 */
export function useScale(drawing: PixelSize, zoom: Zoom, limits: ScaleLimits, onZoom: (zoom: Zoom) => void) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState(UNMEASURED);
  const [room, setRoom] = useState<PixelSize>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const scrolled = (): void => setView(viewOf(element));
    const resized = (): void => {
      scrolled();
      setRoom(roomOf(element));
    };
    const observer = new ResizeObserver(resized);
    observer.observe(element);
    element.addEventListener('scroll', scrolled, { passive: true });
    // The room may grow although the element does not.
    window.addEventListener('resize', resized);
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', scrolled);
      window.removeEventListener('resize', resized);
    };
  }, []);
  const scale = scaleOf(zoom, drawing, room, limits);
  const zooming: ZoomProps = { zoom, scale, least: leastScale(drawing, room, limits), onZoom };
  /** The wheel may turn several times before the drawing follows. */
  const latest = useRef(zooming);
  latest.current = zooming;
  /** The place that is to stay where it is. */
  const fixed = useRef<Place | undefined>(undefined);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const turned = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PIXELS : 1);
      const next = wheelZoom(latest.current.scale, pixels, latest.current.least);
      if (next === latest.current.scale) return;
      fixed.current = { x: event.clientX - left, y: event.clientY - top };
      latest.current = { ...latest.current, scale: next };
      latest.current.onZoom(next);
    };
    element.addEventListener('wheel', turned, { passive: false });
    return () => element.removeEventListener('wheel', turned);
  }, []);
  const before = useRef(scale);
  useLayoutEffect(() => {
    const element = box.current;
    const ratio = scale / before.current;
    before.current = scale;
    if (!element || ratio === 1) return;
    const { x, y } = fixed.current ?? { x: element.clientWidth / 2, y: element.clientHeight / 2 };
    fixed.current = undefined;
    element.scrollTo({ left: (view.left + x) * ratio - x, top: (view.top + y) * ratio - y });
    setView(viewOf(element));
  }, [scale]);
  return { box, view, scale, zooming };
}

function viewOf({ scrollLeft: left, scrollTop: top, clientWidth, clientHeight }: HTMLElement): Viewport {
  return { left, top, right: left + clientWidth, bottom: top + clientHeight };
}

/**
 * Returns the size that a drawing may take of an element, whose height may be lower now than it can be, because the
 * drawing is small.
 */
function roomOf(element: HTMLElement): PixelSize {
  const style = window.getComputedStyle(element);
  const [left, right, top, bottom, most] = [
    style.paddingLeft,
    style.paddingRight,
    style.paddingTop,
    style.paddingBottom,
    style.maxHeight,
  ].map((length) => Number.parseFloat(length)) as [number, number, number, number, number];
  const height = Number.isNaN(most) ? element.clientHeight : most;
  return { width: element.clientWidth - left - right, height: height - top - bottom };
}

interface ScaledProps {
  readonly space: PixelSize;
  readonly scale: number;
  readonly children: ComponentChildren;
}

/** A drawing of HTML at a scale, which takes as much room as it has then. */
export function Scaled({ space: { width, height }, scale, children }: ScaledProps) {
  const [shownWidth, shownHeight] = [Math.floor(width * scale), Math.floor(height * scale)];
  return (
    <div class="scaled-space" style={`width: ${shownWidth}px; height: ${shownHeight}px`}>
      <div class="scaled" style={`width: ${width}px; height: ${height}px; --scale: ${scale}`}>
        {children}
      </div>
    </div>
  );
}

/** Makes a drawing smaller or larger, or fits it into its room. */
export function ZoomButtons({ zoom, scale, least, onZoom }: ZoomProps) {
  return (
    <span class="tools" role="group" aria-label="Zoom">
      <button
        type="button"
        aria-label="Smaller"
        aria-keyshortcuts="-"
        title="Smaller (−)"
        onClick={() => onZoom(stepZoom(scale, -1, least))}
      >
        −
      </button>
      <button
        type="button"
        aria-pressed={zoom === 'fit'}
        aria-keyshortcuts="0"
        title="Fit into the window (0)"
        onClick={() => onZoom(toggleFit(zoom))}
      >
        Fit
      </button>
      <button
        type="button"
        aria-label="Larger"
        aria-keyshortcuts="+"
        title="Larger (+)"
        onClick={() => onZoom(stepZoom(scale, 1, least))}
      >
        +
      </button>
    </span>
  );
}

/** Zooms by the keys +, − and 0 while the focus is in what has the drawing. */
export function zoomOnKey({ zoom, scale, least, onZoom }: ZoomProps): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const next = zoomByKey(event.key, zoom, scale, least);
    if (next === undefined) return;
    event.preventDefault();
    onZoom(next);
  };
}
