import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The keywords of a schema that say its type. */
interface SchemaNode {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaNode[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
}

/** The type of an exported schema, by the title of the schema. */
type NamedTypes = ReadonlyMap<string, string>;

const JSON_TYPE = "import('../json/json.js').Json";

/** Fields whose schema says less than their type, by the title of the schema that has them. */
const OWN_TYPES: Readonly<Record<string, string>> = { 'Problem.code': 'Code' };

/** A declaration of a schema, as the compiler has written it. */
const DECLARATION = /^export declare const (\w+)Schema: [\s\S]*?;\n(?=export |type |$(?![\s\S]))/gm;

const SHAPE = /export type Shape<[\s\S]*?;\n/;

await rewriteDeclarations('lib/common/wire', 'dist/types/lib/common/wire');

/**
 * Replaces the types of the schemas in the declarations of the library by what they describe: an editor then shows names and
 * descriptions, and a compiler has nothing to compute.
 */
async function rewriteDeclarations(sources: string, declarations: string): Promise<void> {
  const names = readdirSync(sources).filter((name) => !['shape.ts', 'started-by.ts'].includes(name));
  const schemas = new Map<string, SchemaNode>();
  const named = new Map<string, string>();
  for (const name of names) {
    const module = (await import(pathToFileURL(join(sources, name)).href)) as Record<string, SchemaNode>;
    for (const [exported, schema] of Object.entries(module)) {
      if (!exported.endsWith('Schema')) continue;
      const type = exported.slice(0, -'Schema'.length);
      schemas.set(type, schema);
      if (schema.title !== undefined)
        named.set(schema.title, `import('./${name.replace('.ts', '.js')}').${type}`);
    }
  }
  for (const name of names) {
    const file = join(declarations, name.replace('.ts', '.d.ts'));
    const text = readFileSync(file, 'utf8').replace(DECLARATION, (all: string, type: string) => {
      const schema = schemas.get(type);
      if (schema === undefined) return all;
      const described = `export declare const ${type}Schema: import('./shape.js').Described<${type}>;\n`;
      return `export type ${type} = ${writeUnnamedType(schema, named)};\n${described}`;
    });
    writeFileSync(file, text);
  }
  const file = join(declarations, 'shape.d.ts');
  const shape = `export interface Described<T> {\n    readonly shape: T;\n}\nexport type Shape<S extends Described<unknown>> = S['shape'];\n`;
  writeFileSync(file, readFileSync(file, 'utf8').replace(SHAPE, shape));
}

/** Writes the type of a schema. */
function writeType(schema: SchemaNode, named: NamedTypes, indent = ''): string {
  const known = schema.title === undefined ? undefined : named.get(schema.title);
  return known ?? writeUnnamedType(schema, named, indent);
}

/** Writes the type of a schema, also of one that has a name. */
function writeUnnamedType(schema: SchemaNode, named: NamedTypes, indent = ''): string {
  const { type, const: constant, enum: values, anyOf, items, properties, patternProperties } = schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf !== undefined) return anyOf.map((part) => writeType(part, named, indent)).join(' | ');
  if (items !== undefined) return `readonly (${writeType(items, named, indent)})[]`;
  if (properties !== undefined) return writeObject(schema, properties, named, indent);
  const [member] = Object.values(patternProperties ?? {});
  if (member !== undefined) return `Readonly<Record<string, ${writeType(member, named, indent)}>>`;
  if (type === 'object') return `Readonly<Record<string, ${JSON_TYPE}>>`;
  if (type === 'integer') return 'number';
  return type ?? JSON_TYPE;
}

function writeObject(
  { title, required = [] }: SchemaNode,
  properties: Readonly<Record<string, SchemaNode>>,
  named: NamedTypes,
  indent: string,
): string {
  const inner = `${indent}    `;
  const lines = Object.entries(properties).flatMap(([name, schema]) => {
    const type = OWN_TYPES[`${title ?? ''}.${name}`] ?? writeType(schema, named, inner);
    const field = `${inner}readonly ${name}${required.includes(name) ? '' : '?'}: ${type};`;
    // Of a value that may be null, the schema of the value is described.
    const description = schema.description ?? schema.anyOf?.[0]?.description;
    return description === undefined
      ? [field]
      : [`${inner}/** ${description.replaceAll('*/', '* /')} */`, field];
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}
