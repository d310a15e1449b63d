import type { PlacedBox } from '../../../../lib/pipelines/drawing/wave-layout.js';
import type { PixelSize } from '../../../shared/model/zoom.js';
import { useNow } from '../../shell/use-now.js';
import type { ToneOfCard } from './graph-card.js';

interface CardBlocksProps {
  readonly boxes: readonly PlacedBox[];
  /** Of each box. */
  readonly size: PixelSize;
  /** Of the whole drawing. */
  readonly space: PixelSize;
  readonly scale: number;
  readonly toneOfCard: ToneOfCard;
  readonly isNear: (id: string) => boolean;
  readonly onShow: (id: string) => void;
  /** The pointer is on a card. */
  readonly onLook: (id: string) => void;
}

/**
 * Many cards that are too small to be read: their places in the colours of their states, one path for each colour, so
 * that thousands cost little. A pointer on a place brings its card.
 */
export function CardBlocks({
  boxes,
  size,
  space,
  scale,
  toneOfCard,
  isNear,
  onShow,
  onLook,
}: CardBlocksProps) {
  const now = useNow();
  const paths = new Map<string, string[]>();
  for (const { id, x, y } of boxes) {
    const tone = toneOfCard(id, now);
    if (tone === undefined) continue;
    const look = isNear(id) ? `${tone} near` : tone;
    const path = `M${x} ${y}h${size.width}v${size.height}h${-size.width}z`;
    const others = paths.get(look);
    if (others === undefined) paths.set(look, [path]);
    else others.push(path);
  }
  const at =
    (act: (id: string) => void) =>
    ({ currentTarget, clientX, clientY }: MouseEvent): void => {
      const { left, top } = (currentTarget as Element).getBoundingClientRect();
      const [x, y] = [(clientX - left) / scale, (clientY - top) / scale];
      const box = boxes.find(
        (placed) =>
          x >= placed.x && x <= placed.x + size.width && y >= placed.y && y <= placed.y + size.height,
      );
      if (box !== undefined) act(box.id);
    };
  return (
    <svg
      class="blocks"
      width={space.width}
      height={space.height}
      aria-hidden="true"
      onClick={at(onShow)}
      onMouseMove={at(onLook)}
    >
      {[...paths].map(([look, parts]) => (
        <path key={look} class={look} d={parts.join('')} />
      ))}
    </svg>
  );
}
