interface JsonFieldProps {
  readonly id: string;
  readonly name: string;
  /** As it was typed. */
  readonly value: string;
  /** The purpose of the value. */
  readonly about?: string;
  /** Shown while nothing is typed. */
  readonly example?: string;
  /** The trouble with the value; undefined for none. */
  readonly problem: string | undefined;
  readonly onChange: (text: string) => void;
}

/** A field for a JSON object, as high as its text, up to 8 lines. */
export function JsonField({ id, name, value, about, example, problem, onChange }: JsonFieldProps) {
  return (
    <div class="param">
      <label for={id}>
        {name} <span class="src">JSON object</span>
      </label>
      <textarea
        id={id}
        rows={Math.min(8, Math.max(2, value.split('\n').length))}
        spellcheck={false}
        value={value}
        placeholder={example}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-about ${id}-problem`}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p id={`${id}-about`} class="about">
        {about}
      </p>
      <p id={`${id}-problem`} class="problem">
        {problem}
      </p>
    </div>
  );
}
