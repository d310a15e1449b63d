import { errorMessage } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json/json.js';
import type { Evaluator } from '../../../lib/tools/expressions/evaluate.js';

const DATA: Json = {
  name: 'Ada',
  text: 'to be or not to be',
  number: 12.5,
  list: [3, 1, 2],
  lines: [
    { price: 2, quantity: 3, tag: 'a' },
    { price: 5, quantity: 1, tag: 'b' },
  ],
};

/** Forty expressions that use each operator and most functions of JSONata, some of them wrongly. */
const PROBES: readonly string[] = [
  '$sum(lines.price)',
  '$sum([100, 200, 300])',
  '$sum("x")',
  '[$count(list), $max(list), $min(list), $average(list)]',
  '[$string(lines), $string($sum), $string(function($x){ $x })]',
  '[$length(text), $substring(text, 3, 2), $substringBefore(text, " "), $substringAfter(text, "not ")]',
  '[$uppercase(name), $lowercase(name), $trim("  a  b "), $pad(name, 6, "-"), $pad(name, -6)]',
  '[$contains(text, "not"), $contains(text, /n.t/), $split(text, " "), $join(["a", "b"], "-")]',
  '$match(text, /(b)(e)/)',
  '$replace(text, /b(e)/, "[$1]")',
  '$replace(text, "be", "is", 1)',
  '[$number("12"), $abs(-3), $floor(2.7), $ceil(2.2), $round(2.567, 2), $power(2, 8), $sqrt(16)]',
  '[$formatNumber(1234.5, "#,##0.00"), $formatBase(255, 16), $formatInteger(12, "w"), $parseInteger("twelve", "w")]',
  '[$boolean(list), $not(false), $exists(nothing), $boolean($sum)]',
  '$map(list, function($v, $i) { $v * $i })',
  '$map(lines.tag, $uppercase)',
  '$map(["x"], $sqrt)',
  '$filter(list, function($v) { $v > 1 })',
  '$reduce(list, function($a, $b) { $a + $b })',
  '$single(list, function($v) { $v = 3 })',
  '$sift(lines[0], function($v, $k) { $k != "tag" })',
  '[$keys(lines), $lookup(lines[0], "price"), $append(list, 4), $reverse(list), $distinct([1, 1, 2])]',
  '[$spread(lines[0]), $merge([{"a": 1}, {"b": 2}]), $zip(list, [4, 5, 6])]',
  '$each(lines[0], function($v, $k) { $k & "=" & $v })',
  '[$type(1), $type("s"), $type(null), $type([]), $type({}), $type($sum)]',
  '$sort(list)',
  'lines^(>price, tag).tag',
  '[$base64encode(name), $base64decode("QWRh"), $encodeUrlComponent("a b"), $decodeUrl("a%20b")]',
  '[$toMillis("2026-01-02T03:04:05Z"), $fromMillis(0, "[Y0001]-[M01]-[D01]"), $type($now()), $millis() > 0]',
  '$eval("1 + 1")',
  '$error("mine")',
  '$assert(list[0] = 4, "not four")',
  'lines{tag: $sum(price)}',
  'lines.(price * quantity - 1 + 8 / 2 % 3)',
  '$ ~> |lines|{"total": price * quantity}, ["tag"]|',
  '($twice := function($f) { function($x) { $f($f($x)) } }; $half := function($x) { $x / 2 }; $twice($half)(8))',
  '($shout := $uppercase ~> $trim ~> $length; $shout(" ada "))',
  '($add := function($a, $b) { $a + $b }; $inc := $add(?, 1); [$inc(1), list ~> $map($inc)])',
  '[1..4][$ > 2 and $ < 5 or $ = 1], list[-1], **.price, lines.*[0], name in ["Ada"]',
  'lines@$l.list#$i[$i = 0].{"tag": $l.tag, "parent": %.name}',
];

export const PROBE_COUNT = PROBES.length;

/** Returns the results and the messages of the probes, as text. */
export function probe(evaluator: Evaluator, runId: string): string[] {
  return PROBES.map((source) => {
    try {
      return `${source} -> ${JSON.stringify(evaluator.evaluate(source, DATA, {}, runId))}`;
    } catch (error) {
      return `${source} fails: ${errorMessage(error)}`;
    }
  });
}
