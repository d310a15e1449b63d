/**
 * The JavaScript that a {@link Sandbox} runs in its context, before and after JSONata. It is text, because all that an
 * expression might reach must come from the context: an object or function of the host would lead to the prototypes of
 * the host.
 *
 * The changes to JSONata (see library.ts) call `harden`, `freezeAll` and `assertData`. All that outlives an evaluation
 * is frozen: functions, options, syntax trees.
 */
export const CONTEXT_PRELUDE = String.raw`'use strict';
/** JSONata notes the last call of a function in it, for messages. The notes of one evaluation end with it. */
const tokens = new Map();
const positions = new Map();
const notes = {
  get token() {
    return tokens.get(this);
  },
  set token(token) {
    tokens.set(this, token);
  },
  get position() {
    return positions.get(this);
  },
  set position(position) {
    positions.set(this, position);
  },
};

/** Returns a frozen copy of a function of JSONata. */
function harden(definition) {
  const { implementation, signature } = definition;
  Object.freeze(implementation);
  if (signature !== undefined) Object.freeze(Object.freeze(signature).validate);
  return Object.freeze(Object.assign(Object.create(notes), definition));
}

/** Freezes a value and all that its properties lead to. */
function freezeAll(root) {
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || Object.isFrozen(value)) continue;
    Object.freeze(value);
    for (const key of Reflect.ownKeys(value)) waiting.push(Reflect.getOwnPropertyDescriptor(value, key).value);
  }
  return root;
}

/** Passes what the operator ~> |target|…| may change. */
function assertData(target, position) {
  if (isFunction(target) || (isObject(target) && Object.values(target).some((part) => typeof part === 'function'))) {
    fail('the operator ~> |…| changes data only, and no functions', position);
  }
  return target;
}

/** JSONata marks its functions with these keys. */
function isFunction(value) {
  if (!isObject(value)) return typeof value === 'function';
  return '_jsonata_lambda' in value || '_jsonata_function' in value;
}

function isObject(value) {
  return typeof value === 'object' && value !== null;
}

function fail(message, position) {
  throw { code: 'refused', message, position };
}

/** JSONata's base64 functions use the Buffer of Node.js. */
const global = (() => {
  const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const VALUES = new Map([...DIGITS, '-', '_'].map((digit, value) => [digit, value < 64 ? value : value - 2]));

  function encode(text) {
    let encoded = '';
    for (let at = 0; at < text.length; at += 3) {
      const bits = (byteAt(text, at) << 16) | (byteAt(text, at + 1) << 8) | byteAt(text, at + 2);
      encoded += DIGITS[bits >> 18] + DIGITS[(bits >> 12) & 63];
      encoded += at + 1 < text.length ? DIGITS[(bits >> 6) & 63] : '=';
      encoded += at + 2 < text.length ? DIGITS[bits & 63] : '=';
    }
    return encoded;
  }

  function byteAt(text, at) {
    return text.charCodeAt(at) & 255;
  }

  function decode(text) {
    let decoded = '';
    let bits = 0;
    let count = 0;
    for (const digit of text) {
      if (digit === '=') break;
      const value = VALUES.get(digit);
      if (value === undefined) continue;
      bits = ((bits << 6) | value) & 0xffffff;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      decoded += String.fromCharCode((bits >> count) & 255);
    }
    return decoded;
  }

  function from(text, encoding) {
    return Object.freeze({ toString: () => (encoding === 'base64' ? decode(text) : encode(text)) });
  }
  return freezeAll({ Buffer: { from } });
})();`;

/**
 * Evaluates expressions, from JSON text to JSON text. Reads the globals `limits` (JSON), `source`, and `data` (JSON of
 * `input` and `bindings`). Sets `result` (JSON) or `failure` (JSON of `code`, `message` and `position`).
 * `parseToGlobals` only parses `source`. It sets `result` to JSON of the syntax tree, and `failure` if it cannot be parsed;
 * neither for a tree that is too large.
 */
export const CONTEXT_PROGRAM = String.raw`'use strict';
const { evaluateToGlobals, parseToGlobals } = (() => {
  const { timeoutMs: timeout, depth: stack, listLength: sequence, resultLength } = JSON.parse(limits);
  let lastSource;
  let lastExpression;

  /** The part of RegExp that JSONata uses, in linear time: exec from lastIndex on, as with the flag g. */
  class LinearRegExp {
    lastIndex = 0;
    #regex;
    #text;
    #matcher;

    constructor(pattern) {
      this.#regex = re2.RE2JS.compile(re2.RE2JS.translateRegExp(pattern));
    }

    exec(text) {
      if (this.#text !== text) {
        this.#matcher = this.#regex.matcher(text);
        this.#text = text;
      }
      const matcher = this.#matcher;
      if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
        this.lastIndex = 0;
        return null;
      }
      this.lastIndex = matcher.end();
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i) ?? undefined);
      return Object.assign(groups, { index: matcher.start() });
    }
  }

  const options = freezeAll({ timeout, stack, sequence, RegexEngine: LinearRegExp });

  function evaluate() {
    if (/"_jsonata_(?:lambda|function)":/.test(data)) fail('its data has a key that JSONata reserves for functions');
    const { input, bindings } = JSON.parse(data);
    const expression = compile();
    tokens.clear();
    positions.clear();
    return JSON.stringify(expression.evaluate(input, bindings), createReplacer());
  }

  /** The items of a fan-out share an expression. */
  function compile() {
    if (source === lastSource) return lastExpression;
    lastSource = undefined;
    lastExpression = jsonata(source, options);
    lastExpression.registerFunction('eval', () => fail('$eval is switched off'));
    freezeAll(lastExpression.ast());
    lastSource = source;
    return lastExpression;
  }

  /** Refuses values that JSON cannot hold, and results that repeat a small value too often. */
  function createReplacer() {
    let size = 0;
    return (key, value) => {
      if (isFunction(value)) failResult(key === '' ? 'is a function, not a value' : 'contains a function at "' + key + '"');
      if (typeof value === 'number' && !Number.isFinite(value)) {
        failResult('contains ' + value + ', which JSON cannot represent');
      }
      size += key.length + (typeof value === 'string' ? value.length : 4);
      if (size > resultLength) failResult('is larger than the limit of ' + resultLength / 2 ** 20 + ' MiB');
      return value;
    };
  }

  function failResult(what) {
    throw { code: 'bad_result', message: 'the result of the expression ' + what };
  }

  function toFailure(error) {
    const { code, message, position } = Object(error);
    return JSON.stringify({
      code: typeof code === 'string' ? code : undefined,
      message: typeof message === 'string' ? message : undefined,
      position: typeof position === 'number' ? position : undefined,
    });
  }

  function evaluateToGlobals() {
    globalThis.result = undefined;
    globalThis.failure = undefined;
    try {
      globalThis.result = evaluate() ?? 'null';
    } catch (error) {
      globalThis.failure = toFailure(error);
    }
  }

  /** The members of a node that hold no nodes, and may be shared by many. */
  const LEFT_OUT = new Set(['slot', 'ancestor', 'seekingParent', 'signature']);
  const MOST_MEMBERS = 200_000;

  function parseToGlobals() {
    globalThis.result = undefined;
    globalThis.failure = undefined;
    try {
      let members = 0;
      const tree = JSON.stringify(jsonata(source, options).ast(), (key, value) =>
        ++members > MOST_MEMBERS || LEFT_OUT.has(key) ? undefined : value,
      );
      if (members <= MOST_MEMBERS) globalThis.result = tree;
    } catch (error) {
      // One that is nested too deeply for this stack may be evaluated on another.
      if (!(error instanceof RangeError)) globalThis.failure = toFailure(error);
    }
  }

  return { evaluateToGlobals, parseToGlobals };
})();`;
