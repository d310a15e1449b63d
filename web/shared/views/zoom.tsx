import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  type PixelSize,
  type ScaleLimits,
  scaleOf,
  stepZoom,
  toggleFit,
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
  readonly onZoom: (zoom: Zoom) => void;
}

/**
 * The scale of a drawing in the element `box`, which scrolls it, and what of it is visible. What is in the middle stays
 * there when the scale changes.
 */
export function useScale(drawing: PixelSize, zoom: Zoom, limits: ScaleLimits) {
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
  const before = useRef(scale);
  useLayoutEffect(() => {
    const element = box.current;
    const ratio = scale / before.current;
    before.current = scale;
    if (!element || ratio === 1) return;
    element.scrollTo({
      left: ((view.left + view.right) / 2) * ratio - element.clientWidth / 2,
      top: ((view.top + view.bottom) / 2) * ratio - element.clientHeight / 2,
    });
    setView(viewOf(element));
  }, [scale]);
  return { box, view, scale };
}

function viewOf({ scrollLeft: left, scrollTop: top, clientWidth, clientHeight }: HTMLElement): Viewport {
  return { left, top, right: left + clientWidth, bottom: top + clientHeight };
}

/** What a drawing may take of an element: that may be lower now than it can be, because the drawing is small. */
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
export function ZoomButtons({ zoom, scale, onZoom }: ZoomProps) {
  return (
    <span class="tools" role="group" aria-label="Zoom">
      <button
        type="button"
        aria-label="Smaller"
        aria-keyshortcuts="-"
        title="Smaller (−)"
        onClick={() => onZoom(stepZoom(scale, -1))}
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
        onClick={() => onZoom(stepZoom(scale, 1))}
      >
        +
      </button>
    </span>
  );
}

/** Zooms by the keys +, − and 0 while the focus is in what has the drawing. */
export function zoomOnKey({ zoom, scale, onZoom }: ZoomProps): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const next = zoomByKey(event.key, zoom, scale);
    if (next === undefined) return;
    event.preventDefault();
    onZoom(next);
  };
}
