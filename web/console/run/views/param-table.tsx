import { isObject, type Json, type JsonObject } from '../../../../lib/common/json.js';
import { JsonTree } from '../../../shared/views/json-view.js';

interface ParamTableProps {
  /** The params of the definition, each with its type and its default. */
  readonly declared: Json | undefined;
  /** Those that were sent. */
  readonly given: JsonObject;
}

/** The params with the values that the run has used: those that were sent, and the defaults of the others. */
export function ParamTable({ declared, given }: ParamTableProps) {
  const names = isObject(declared) ? Object.entries(declared) : [];
  if (names.length === 0) return null;
  return (
    <section aria-label="Params">
      <h3>Params</h3>
      <dl class="facts">
        {names.map(([name, param]) => {
          const isGiven = Object.hasOwn(given, name);
          const value = isGiven ? given[name] : isObject(param) ? param['default'] : undefined;
          return (
            <>
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                <JsonTree value={value ?? null} label={`Param ${name}`} />
                {!isGiven && <span class="src">default</span>}
              </dd>
            </>
          );
        })}
      </dl>
    </section>
  );
}
