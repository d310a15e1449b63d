import type { Json } from '../../../lib/common/json.js';
import { initialText, type ParamDeclaration, type ParamTexts, readParam } from './params.js';

interface ParamsFormProps {
  /** As the definition declares them, by name. */
  readonly params: Readonly<Record<string, ParamDeclaration>>;
  /** What the reader has typed, by name. */
  readonly texts: ParamTexts;
  readonly onChange: (texts: ParamTexts) => void;
  /** Distinguishes the fields of two forms on one page. */
  readonly name: string;
}

/** A field for each param of a pipeline: of its type, with its default, and with what is wrong with what was typed. */
export function ParamsForm({ params, texts, onChange, name }: ParamsFormProps) {
  return (
    <div class="params">
      {Object.entries(params).map(([param, declaration]) => (
        <Field
          key={param}
          id={`${name}-${param}`}
          param={param}
          declaration={declaration}
          text={texts[param] ?? initialText(declaration)}
          onInput={(text) => onChange({ ...texts, [param]: text })}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly id: string;
  readonly param: string;
  readonly declaration: ParamDeclaration;
  readonly text: string;
  readonly onInput: (text: string) => void;
}

function Field({ id, param, declaration, text, onInput }: FieldProps) {
  const { type = 'string', description } = declaration;
  const read = readParam(declaration, text);
  const problem = read.ok || text === '' ? '' : read.problem;
  return (
    <div class="param">
      <label for={id}>
        <bdi>{param}</bdi>{' '}
        <span class="src">
          {type}
          {declaration.default === undefined && ', required'}
        </span>
      </label>
      <Control id={id} declaration={declaration} text={text} isInvalid={problem !== ''} onInput={onInput} />
      <span id={`${id}-about`} class={problem === '' ? 'src' : 'problem'}>
        <bdi>{problem || description || ''}</bdi>
      </span>
    </div>
  );
}

interface ControlProps extends Pick<FieldProps, 'id' | 'declaration' | 'text' | 'onInput'> {
  readonly isInvalid: boolean;
}

function Control({ id, declaration, text, isInvalid, onInput }: ControlProps) {
  const { type = 'string', enum: choices } = declaration;
  const common = { id, 'aria-invalid': isInvalid, 'aria-describedby': `${id}-about` };
  if (choices !== undefined || type === 'boolean') {
    const values: readonly Json[] = choices ?? [true, false];
    return (
      <select {...common} value={text} onChange={(event) => onInput(event.currentTarget.value)}>
        {text === '' && <option value="">choose one</option>}
        {values.map((value) => (
          <option key={String(value)}>{typeof value === 'string' ? value : JSON.stringify(value)}</option>
        ))}
      </select>
    );
  }
  if (type === 'list' || type === 'object') {
    return (
      <textarea
        {...common}
        rows={3}
        spellcheck={false}
        placeholder={type === 'list' ? '["a", "b"]' : '{"key": "value"}'}
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    );
  }
  return (
    <input
      {...common}
      inputMode={type === 'string' ? 'text' : 'decimal'}
      value={text}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
