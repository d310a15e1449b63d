import type { ComponentChildren } from 'preact';
import type { PlacedBox } from '../../../../lib/pipelines/drawing/wave-layout.js';
import type { Tone } from '../../../shared/model/tones.js';

/** How a card is linked with the one that the reader looks at. */
export type Nearness = 'before' | 'after';

/** A card in its place, with what only the graph knows of it. */
export interface PlacedCard {
  /** The id of the card's element. */
  readonly id: string;
  readonly placed: PlacedBox;
  /** The dependencies of the card, in words. */
  readonly links: string;
  readonly isSelected: boolean;
  /** True for the card that the Tab key leads to. */
  readonly isActive: boolean;
  readonly near: Nearness | undefined;
  readonly onShow: () => void;
  readonly onHover: (isOn: boolean) => void;
  readonly onFocus: (isOn: boolean) => void;
}

/** The colour of what a card stands for, at a time in milliseconds since 1970; undefined for what is not known yet. */
export type ToneOfCard = (id: string, now: number) => Tone | undefined;

interface GraphCardProps {
  readonly card: PlacedCard;
  readonly name: string;
  readonly tone: Tone;
  /** The state in words, for readers who do not see the colour of the card. */
  readonly status: string;
  readonly title: string;
  readonly isFanOut?: boolean;
  /** Below the name. */
  readonly children: ComponentChildren;
}

/** A card of a graph: its name, and what is below it. */
export function GraphCard({ card, name, tone, status, title, isFanOut, children }: GraphCardProps) {
  const { id, placed, links, isSelected, isActive, near, onShow, onHover, onFocus } = card;
  const classes = [
    'task-card',
    tone,
    isFanOut && 'fan-out',
    isSelected && 'selected',
    near && `near ${near}`,
  ];
  return (
    <button
      type="button"
      id={id}
      class={classes.filter(Boolean).join(' ')}
      style={{ left: `${placed.x}px`, top: `${placed.y}px` }}
      tabIndex={isActive ? 0 : -1}
      aria-pressed={isSelected}
      title={title}
      onClick={onShow}
      onMouseEnter={() => onHover(true)}
      onMouseLeave={() => onHover(false)}
      onFocus={() => onFocus(true)}
      onBlur={() => onFocus(false)}
    >
      <span class="name">
        <span class={`dot ${tone}`} aria-hidden="true" />
        <bdi>{name}</bdi>
      </span>
      {children}
      <span class="hidden-text">
        , {status}, wave {placed.wave + 1}, {links}
      </span>
    </button>
  );
}
