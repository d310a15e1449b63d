import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../../lib/common/json/json.js';
import { type ParamDeclaration, readParam, showParam } from './param-values.js';

interface ParamsFormProps {
  /** The declarations, by name, as in a definition (D4). */
  readonly params: Readonly<Record<string, ParamDeclaration>>;
  /** Values by name; a param without one has its default. */
  readonly values: JsonObject;
  /** The trouble with the value of a param, by name. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (values: JsonObject) => void;
  /** Distinguishes the fields of two forms on one page. */
  readonly id?: string;
}

/** A field for each param of a pipeline: of its type, with its choices, its default and what it is for. */
export function ParamsForm({ params, values, problems, onChange, id = 'param' }: ParamsFormProps) {
  const change = (name: string, value: Json | undefined): void => {
    const { [name]: _, ...others } = values;
    onChange(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <div class="params-form">
      {Object.entries(params).map(([name, param]) => (
        <Param
          key={name}
          id={`${id}-${name}`}
          name={name}
          param={param}
          value={Object.hasOwn(values, name) ? values[name] : undefined}
          problem={Object.hasOwn(problems, name) ? problems[name] : undefined}
          onChange={(value) => change(name, value)}
        />
      ))}
    </div>
  );
}

interface ParamProps {
  readonly id: string;
  readonly name: string;
  readonly param: ParamDeclaration;
  readonly value: Json | undefined;
  readonly problem: string | undefined;
  readonly onChange: (value: Json | undefined) => void;
}

function Param({ id, name, param, value, problem, onChange }: ParamProps) {
  const { type = 'string', description } = param;
  const isRequired = param.default === undefined;
  return (
    <div class="param">
      <label for={id}>
        <bdi>{name}</bdi> <span class="src">{isRequired ? `${type}, required` : type}</span>
      </label>
      <Control id={id} param={param} value={value} problem={problem} onChange={onChange} />
      <p id={`${id}-about`} class="about">
        {description}
      </p>
      <p id={`${id}-problem`} class="problem">
        {problem}
      </p>
    </div>
  );
}

function Control({ id, param, value, problem, onChange }: Omit<ParamProps, 'name'>) {
  const { type = 'string' } = param;
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: Json | undefined }>({
    text: '',
    value: undefined,
  });
  const usual = param.default === undefined ? '' : showParam(param.default, type);
  const shared = {
    id,
    'aria-invalid': problem !== undefined,
    'aria-describedby': `${id}-about ${id}-problem`,
    'aria-required': param.default === undefined,
  };
  const choices = param.enum ?? (type === 'boolean' ? [true, false] : undefined);
  if (choices !== undefined) {
    const chosen = value === undefined ? '' : JSON.stringify(value);
    return (
      <select
        {...shared}
        value={chosen}
        onChange={({ currentTarget: { value: text } }) =>
          onChange(text === '' ? undefined : (JSON.parse(text) as Json))
        }
      >
        <option value="">{usual === '' ? 'choose…' : `default: ${usual}`}</option>
        {choices.map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {showParam(choice, type)}
          </option>
        ))}
      </select>
    );
  }
  // Typed text stays as it was typed, unless the value is another one meanwhile.
  const text = typed.value === value ? typed.text : value === undefined ? '' : showParam(value, type);
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void => {
    const read = readParam(currentTarget.value, type);
    setTyped({ text: currentTarget.value, value: read });
    onChange(read);
  };
  if (type === 'list' || type === 'object') {
    const rows = Math.min(8, Math.max(2, text.split('\n').length));
    const placeholder = usual || (type === 'list' ? '["a", "b"]' : '{"key": "value"}');
    return <textarea {...shared} rows={rows} spellcheck={false} value={text} {...{ placeholder, onInput }} />;
  }
  const isNumber = type === 'integer' || type === 'number';
  return (
    <input
      {...shared}
      type="text"
      inputMode={isNumber ? 'decimal' : 'text'}
      autocomplete="off"
      value={text}
      placeholder={usual}
      onInput={onInput}
    />
  );
}
