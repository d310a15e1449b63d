/** A function that comes with JSONata. */
export interface ExpressionFunction {
  /** As its documentation writes it: `substring(text, start[, length])`. */
  readonly usage: string;
  /** Of arguments that it accepts; a first one that it takes from the context when absent is not counted. */
  readonly least: number;
  readonly most: number;
  /** The value of the context is its first argument when it is called with one fewer. */
  readonly takesContext: boolean;
}

/** As the package has them: how each is called, and its signature. */
const SIGNATURES = `
sum(numbers) <a<n>:n>
count(list) <a:n>
max(numbers) <a<n>:n>
min(numbers) <a<n>:n>
average(numbers) <a<n>:n>
string(value[, prettify]) <x-b?:s>
substring(text, start[, length]) <s-nn?:s>
substringBefore(text, characters) <s-s:s>
substringAfter(text, characters) <s-s:s>
lowercase(text) <s-:s>
uppercase(text) <s-:s>
length(text) <s-:n>
trim(text) <s-:s>
pad(text, width[, character]) <s-ns?:s>
match(text, pattern[, limit]) <s-f<s:o>n?:a<o>>
contains(text, pattern) <s-(sf):b>
replace(text, pattern, replacement[, limit]) <s-(sf)(sf)n?:s>
split(text, separator[, limit]) <s-(sf)n?:a<s>>
join(texts[, separator]) <a<s>s?:s>
formatNumber(number, format[, options]) <n-so?:s>
formatBase(number[, radix]) <n-n?:s>
formatInteger(number, format) <n-s:s>
parseInteger(text, format) <s-s:n>
number(value) <(nsb)-:n>
floor(number) <n-:n>
ceil(number) <n-:n>
round(number[, precision]) <n-n?:n>
abs(number) <n-:n>
sqrt(number) <n-:n>
power(base, exponent) <n-n:n>
random() <:n>
boolean(value) <x-:b>
not(value) <x-:b>
map(list, function) <af>
zip(list, ...) <a+>
filter(list, function) <af>
single(list[, function]) <af?>
reduce(list, function[, start]) <afj?:j>
sift(object, function) <o-f?:o>
keys(object) <x-:a<s>>
lookup(object, key) <x-s:x>
append(list, value) <xx:a>
exists(value) <x:b>
spread(object) <x-:a<o>>
merge(objects) <a<o>:o>
reverse(list) <a:a>
each(object, function) <o-f:a>
error([message]) <s?:x>
assert(condition[, message]) <bs?:x>
type(value) <x:s>
sort(list[, function]) <af?:a>
shuffle(list) <a:a>
distinct(list) <x:x>
base64encode(text) <s-:s>
base64decode(text) <s-:s>
encodeUrlComponent(text) <s-:s>
encodeUrl(text) <s-:s>
decodeUrlComponent(text) <s-:s>
decodeUrl(text) <s-:s>
eval(expression[, context]) <sx?:x>
toMillis(time[, format]) <s-s?:n>
fromMillis(number[, format[, zone]]) <n-s?s?:s>
clone(value) <(oa)-:o>
now([format[, zone]]) <s?s?:s>
millis() <:n>`;

/** A parameter: a letter, or a choice of letters, perhaps the type of its members, and how often it may come. */
const PARAMETER = /(?:[a-z]|\([a-z]+\))(?:<[^>]*>)?([-?+]?)/y;

/** By name, without the sign. */
export const EXPRESSION_FUNCTIONS: ReadonlyMap<string, ExpressionFunction> = new Map(
  SIGNATURES.trim()
    .split('\n')
    .map((line) => readFunction(line)),
);

function readFunction(line: string): [string, ExpressionFunction] {
  const [, usage = '', name = '', signature = ''] = /^((\w+)\(.*\)) <(.*)>$/.exec(line) ?? [];
  const counted = countArguments(signature);
  return [name, { usage, ...counted }];
}

function countArguments(signature: string): Omit<ExpressionFunction, 'usage'> {
  let [least, most, takesContext] = [0, 0, false];
  PARAMETER.lastIndex = 0;
  for (let found = PARAMETER.exec(signature); found !== null; found = PARAMETER.exec(signature)) {
    const [, often = ''] = found;
    if (often === '-') takesContext = true;
    if (often === '' || often === '+') least++;
    most = often === '+' ? Number.POSITIVE_INFINITY : most + 1;
  }
  return { least, most, takesContext };
}
