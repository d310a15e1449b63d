// Generated from lib/definition/schema/schema.ts by "npm run generate".
"use strict";
export const validate = validate20;
export default validate20;
const schema31 = {"type":"object","required":["id","goal","tasks"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$","description":"Names the pipeline."},"goal":{"type":"string","maxLength":10000,"description":"Purpose of the pipeline. May contain {{params.…}} templates."},"description":{"type":["string","null"],"description":"Longer description for readers."},"version":{"type":["string","null"],"description":"Free text; quote it, or YAML reads a number."},"params":{"type":["object","null"],"patternProperties":{"^.*$":{"type":"object","properties":{"type":{"enum":["string","integer","number","boolean","list","object"],"default":"string","description":"Type of the value. A value of another type is coerced if nothing is lost."},"description":{"type":"string","description":"Purpose of the parameter."},"default":{"description":"Used when no value is supplied. Without a default the parameter is required."},"enum":{"type":"array","items":{},"minItems":1,"description":"The allowed values."},"minimum":{"type":"number","description":"The smallest number allowed."},"maximum":{"type":"number","description":"The largest number allowed."},"pattern":{"type":"string","description":"A regular expression that a string must match."},"items":{"type":"object","patternProperties":{"^.*$":{}},"description":"JSON Schema of the elements of a list."},"properties":{"type":"object","patternProperties":{"^.*$":{}},"description":"JSON Schemas of the keys of an object."}},"additionalProperties":false,"description":"A typed parameter."}},"description":"Typed parameters, read as {{params.NAME}}."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Default values, read as {{pipeline.inputs.KEY}}."},"reads":{"type":["array","null"],"items":{"type":"string"},"description":"Blackboard keys that the session is limited to."},"labels":{"type":["object","null"],"patternProperties":{"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$":{"type":"string","maxLength":128,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}},"additionalProperties":false,"maxProperties":20,"description":"Labels of its runs, as in {team: billing}: lists of runs are filtered by them."},"schedule":{"type":["string","array","null"],"items":{"type":"string","maxLength":200},"minItems":1,"maxItems":10,"maxLength":200,"description":"When a server that has the file in its folder starts it: the five fields of cron, as in \"0 6 * * 1-5\", or @daily and the like; or a list of them."},"timezone":{"type":["string","null"],"maxLength":100,"default":"UTC","description":"Time zone of the schedule, as in Europe/Berlin."},"overlap":{"enum":["skip","queue","allow",null],"default":"skip","description":"What happens when a time of the schedule comes while its last run is at work."},"catch_up":{"type":["boolean","null"],"default":false,"description":"Whether one run makes up for missed times of the schedule."},"paused":{"type":["boolean","null"],"default":false,"description":"Whether the schedule rests: its times start nothing, and none of them is missed."},"webhook":{"type":["object","null"],"required":["secret"],"properties":{"secret":{"type":"string","description":"Name of the secret that a request must prove to know."},"params":{"type":["object","null"],"patternProperties":{"^.*$":{"type":"string"}},"description":"Params, each with the JSON Pointer of its value in the body. Default: fields of the body that are params. Not in a plan."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{"type":"string"}},"description":"Inputs, each with the JSON Pointer of its value in the body; \"\" is the whole body."},"replay":{"enum":["allow","refuse",null],"default":"allow","description":"Whether a signature of the body alone may come again, with another id of the delivery: \"refuse\" responds with the first run."}},"additionalProperties":false,"description":"Lets a request from elsewhere start it."},"priority":{"type":["integer","null"],"minimum":-100,"maximum":100,"default":0,"description":"Which queued runs of a tenant begin first on a server: those with the higher number; of equal ones, those that came first."},"max_running":{"type":["integer","null"],"minimum":1,"maximum":1000000,"description":"How many of its runs are at work at once on a server that has the file in its folder; more wait."},"on_busy":{"enum":["queue","skip","cancel_running",null],"default":"queue","description":"What happens to a run beyond max_running. queue: it waits. skip: it is refused. cancel_running: those at work are cancelled."},"concurrency_key":{"type":["string","null"],"maxLength":1000,"description":"Counts max_running for each value of this by itself, as in {{params.customer}}."},"keep":{"type":["number","string","object","null"],"exclusiveMinimum":0,"maximum":315360000,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","properties":{"days":{"type":"number","exclusiveMinimum":0,"maximum":3650,"description":"Days for which a settled run is kept."},"runs":{"type":"integer","minimum":0,"maximum":1000000,"description":"How many settled runs are kept, the newest."}},"additionalProperties":false,"description":"How long a server with a store keeps settled runs, in seconds or as in 7d, instead of SERVICE_RUN_TTL; or {days, runs}."},"timeout":{"type":["number","string","null"],"exclusiveMinimum":0,"maximum":315360000,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"Limit for the whole run from its start, in seconds or as in 1h30m; time at breakpoints does not count. The run then fails as run_timeout."},"on_success":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run after all others when the run has succeeded."},"on_failure":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run after all others when the run has failed, as to alert somebody."},"on_cancel":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run after all others when the run was cancelled."},"finally":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run last, however the run has ended, as to clean up."},"handler_timeout":{"type":["number","string","null"],"exclusiveMinimum":0,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"Limit for each list of handlers, in seconds or as in 10m. Default: 5m.","maximum":315360000},"tasks":{"type":"array","items":{"type":"object","required":["id","tool"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_-]{0,127}$","description":"Unique in the pipeline; the key of its output."},"tool":{"type":"string","description":"The tool to call; `wavetrain tools` lists them."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Inputs of the tool. Strings may contain {{templates}}."},"parallel_over":{"type":["string","null"],"description":"A single template whose value is a list. The tool is called once for each {{item}}."},"fan_out_concurrency":{"type":["integer","null"],"minimum":1,"description":"How many items may be in flight at once. Replaces the option of the run."},"on_item_error":{"enum":["fail","collect",null],"default":"fail","description":"fail: a failed item fails the task. collect: {error} takes the place of its output, and the task goes on."},"when":{"type":["string","object","array","null"],"properties":{"value":{"type":"string","description":"The template whose value is looked at."}},"required":["value"],"items":{"type":["string","object"],"properties":{"value":{"type":"string","description":"The template whose value is looked at."}},"required":["value"]},"minItems":1,"maxItems":20,"description":"Runs the task only if it holds: a template, a map as in {value: \"{{params.kind}}\", const: invoice}, or a list of them. With parallel_over, it may read {{item}}."},"on_error":{"enum":["fail","continue",null],"default":"fail","description":"fail: when the task has failed, the run fails. continue: the run goes on without its output."},"await":{"type":["array","null"],"items":{"type":"string"},"description":"Tasks that must run first although no template references them."},"repeat":{"type":["object","null"],"properties":{"until":{"type":["string","object","array"],"properties":{"value":{"type":"string","description":"The template whose value is looked at."}},"required":["value"],"items":{"type":["string","object"],"properties":{"value":{"type":"string","description":"The template whose value is looked at."}},"required":["value"]},"minItems":1,"maxItems":20,"description":"The condition that ends it, or a list of them, as in when; {{this.output}} is the output of the round."},"every":{"type":["number","string"],"minimum":0,"maximum":604800,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","default":"30s","description":"Wait between two rounds, in seconds or as in 5m."},"at_most":{"type":"integer","minimum":1,"maximum":10000,"default":20,"description":"Rounds after which the task fails."}},"required":["until"],"additionalProperties":false,"description":"Calls the tool again until a condition holds of its output, as in {until: \"{{this.output.done}}\", every: 30s, at_most: 20}."},"retry":{"type":["integer","null"],"minimum":0,"default":0,"description":"How many times a failed attempt is retried."},"retry_delay":{"type":["number","string","null"],"minimum":0,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"Delay before the first retry, in seconds or as in 1m30s; doubled for each further one. Replaces retry_base_delay."},"max_retry_delay":{"type":["number","string","null"],"minimum":0,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"Longest delay before a retry, in seconds or as in 1m30s. Replaces the option of the run."},"cache":{"type":["boolean","object","null"],"properties":{"ttl":{"type":["number","string"],"exclusiveMinimum":0,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"How long an output is reused, in seconds or as in 12h."}},"additionalProperties":false,"default":false,"description":"Reuses the output of an earlier invocation with the same tool and the same inputs, in any run of the tenant."},"timeout":{"type":["number","string","null"],"exclusiveMinimum":0,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"Limit for one attempt, in seconds or as in 1m30s. Replaces per_task_timeout."},"pool":{"type":["string","null"],"pattern":"^[A-Za-z_][A-Za-z0-9_-]{0,127}$","description":"Pool of the server, of which each call takes a place while it is at work; it waits for one before."}},"additionalProperties":false,"description":"A task: a tool and its inputs."},"minItems":1,"description":"The tasks, in any order."}},"additionalProperties":false,"description":"A pipeline."};
const func1 = Object.prototype.hasOwnProperty;
const pattern4 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", "u");
const pattern5 = new RegExp("^.*$", "u");
const pattern9 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$", "u");
const pattern11 = new RegExp("^[^\\u0000-\\u001f\\u007f-\\u009f]*$", "u");
const pattern14 = new RegExp("^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$", "u");
const pattern17 = new RegExp("^[A-Za-z_][A-Za-z0-9_-]{0,127}$", "u");

function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
let vErrors = null;
let errors = 0;
const evaluated0 = validate20.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.id === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data.goal === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "goal"},message:"must have required property '"+"goal"+"'"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data.tasks === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "tasks"},message:"must have required property '"+"tasks"+"'"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
for(const key0 in data){
if(!(func1.call(schema31.properties, key0))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(!pattern4.test(data0)){
const err4 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"},message:"must match pattern \""+"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"+"\""};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
else {
const err5 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.goal !== undefined){
let data1 = data.goal;
if(typeof data1 === "string"){
if(data1.length > 10000){
const err6 = {instancePath:instancePath+"/goal",schemaPath:"#/properties/goal/maxLength",keyword:"maxLength",params:{limit: 10000},message:"must NOT have more than 10000 characters"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
else {
const err7 = {instancePath:instancePath+"/goal",schemaPath:"#/properties/goal/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.description !== undefined){
let data2 = data.description;
if((typeof data2 !== "string") && (data2 !== null)){
const err8 = {instancePath:instancePath+"/description",schemaPath:"#/properties/description/type",keyword:"type",params:{type: schema31.properties.description.type},message:"must be string,null"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.version !== undefined){
let data3 = data.version;
if((typeof data3 !== "string") && (data3 !== null)){
const err9 = {instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: schema31.properties.version.type},message:"must be string,null"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.params !== undefined){
let data4 = data.params;
if((!(data4 && typeof data4 == "object" && !Array.isArray(data4))) && (data4 !== null)){
const err10 = {instancePath:instancePath+"/params",schemaPath:"#/properties/params/type",keyword:"type",params:{type: schema31.properties.params.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
var props0 = {};
for(const key1 in data4){
if(pattern5.test(key1)){
let data5 = data4[key1];
if(data5 && typeof data5 == "object" && !Array.isArray(data5)){
for(const key2 in data5){
if(!(func1.call(schema31.properties.params.patternProperties["^.*$"].properties, key2))){
const err11 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/params/patternProperties/%5E.*%24/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.type !== undefined){
let data6 = data5.type;
if(!((((((data6 === "string") || (data6 === "integer")) || (data6 === "number")) || (data6 === "boolean")) || (data6 === "list")) || (data6 === "object"))){
const err12 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/type",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/type/enum",keyword:"enum",params:{allowedValues: schema31.properties.params.patternProperties["^.*$"].properties.type.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.description !== undefined){
if(typeof data5.description !== "string"){
const err13 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/description",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/description/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.enum !== undefined){
let data8 = data5.enum;
if(Array.isArray(data8)){
if(data8.length < 1){
const err14 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/enum",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/enum/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
else {
const err15 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/enum",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/enum/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.minimum !== undefined){
let data9 = data5.minimum;
if(!((typeof data9 == "number") && (isFinite(data9)))){
const err16 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/minimum",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/minimum/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.maximum !== undefined){
let data10 = data5.maximum;
if(!((typeof data10 == "number") && (isFinite(data10)))){
const err17 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/maximum",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/maximum/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.pattern !== undefined){
if(typeof data5.pattern !== "string"){
const err18 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/pattern",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/pattern/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.items !== undefined){
let data12 = data5.items;
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
var props1 = {};
for(const key3 in data12){
if(pattern5.test(key3)){
props1[key3] = true;
}
}
}
else {
const err19 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/items",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data5.properties !== undefined){
let data13 = data5.properties;
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
var props2 = {};
for(const key4 in data13){
if(pattern5.test(key4)){
props2[key4] = true;
}
}
}
else {
const err20 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1")+"/properties",schemaPath:"#/properties/params/patternProperties/%5E.*%24/properties/properties/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
else {
const err21 = {instancePath:instancePath+"/params/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/params/patternProperties/%5E.*%24/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
props0[key1] = true;
}
}
}
}
if(data.inputs !== undefined){
let data14 = data.inputs;
if((!(data14 && typeof data14 == "object" && !Array.isArray(data14))) && (data14 !== null)){
const err22 = {instancePath:instancePath+"/inputs",schemaPath:"#/properties/inputs/type",keyword:"type",params:{type: schema31.properties.inputs.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
var props3 = {};
for(const key5 in data14){
if(pattern5.test(key5)){
props3[key5] = true;
}
}
}
}
if(data.reads !== undefined){
let data15 = data.reads;
if((!(Array.isArray(data15))) && (data15 !== null)){
const err23 = {instancePath:instancePath+"/reads",schemaPath:"#/properties/reads/type",keyword:"type",params:{type: schema31.properties.reads.type},message:"must be array,null"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data15)){
const len0 = data15.length;
for(let i0=0; i0<len0; i0++){
if(typeof data15[i0] !== "string"){
const err24 = {instancePath:instancePath+"/reads/" + i0,schemaPath:"#/properties/reads/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data.labels !== undefined){
let data17 = data.labels;
if((!(data17 && typeof data17 == "object" && !Array.isArray(data17))) && (data17 !== null)){
const err25 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/type",keyword:"type",params:{type: schema31.properties.labels.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
if(Object.keys(data17).length > 20){
const err26 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/maxProperties",keyword:"maxProperties",params:{limit: 20},message:"must NOT have more than 20 properties"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
for(const key6 in data17){
if(!(pattern9.test(key6))){
const err27 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
for(const key7 in data17){
if(pattern9.test(key7)){
let data18 = data17[key7];
if(typeof data18 === "string"){
if(data18.length > 128){
const err28 = {instancePath:instancePath+"/labels/" + key7.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/patternProperties/%5E%5BA-Za-z0-9_%5D%5BA-Za-z0-9_.-%5D%7B0%2C63%7D%24/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern11.test(data18)){
const err29 = {instancePath:instancePath+"/labels/" + key7.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/patternProperties/%5E%5BA-Za-z0-9_%5D%5BA-Za-z0-9_.-%5D%7B0%2C63%7D%24/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"+"\""};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
else {
const err30 = {instancePath:instancePath+"/labels/" + key7.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/patternProperties/%5E%5BA-Za-z0-9_%5D%5BA-Za-z0-9_.-%5D%7B0%2C63%7D%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
}
if(data.schedule !== undefined){
let data19 = data.schedule;
if(((typeof data19 !== "string") && (!(Array.isArray(data19)))) && (data19 !== null)){
const err31 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/type",keyword:"type",params:{type: schema31.properties.schedule.type},message:"must be string,array,null"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(typeof data19 === "string"){
if(data19.length > 200){
const err32 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(Array.isArray(data19)){
if(data19.length > 10){
const err33 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/maxItems",keyword:"maxItems",params:{limit: 10},message:"must NOT have more than 10 items"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data19.length < 1){
const err34 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len1 = data19.length;
for(let i1=0; i1<len1; i1++){
let data20 = data19[i1];
if(typeof data20 === "string"){
if(data20.length > 200){
const err35 = {instancePath:instancePath+"/schedule/" + i1,schemaPath:"#/properties/schedule/items/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
else {
const err36 = {instancePath:instancePath+"/schedule/" + i1,schemaPath:"#/properties/schedule/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data.timezone !== undefined){
let data21 = data.timezone;
if((typeof data21 !== "string") && (data21 !== null)){
const err37 = {instancePath:instancePath+"/timezone",schemaPath:"#/properties/timezone/type",keyword:"type",params:{type: schema31.properties.timezone.type},message:"must be string,null"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(typeof data21 === "string"){
if(data21.length > 100){
const err38 = {instancePath:instancePath+"/timezone",schemaPath:"#/properties/timezone/maxLength",keyword:"maxLength",params:{limit: 100},message:"must NOT have more than 100 characters"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data.overlap !== undefined){
let data22 = data.overlap;
if(!((((data22 === "skip") || (data22 === "queue")) || (data22 === "allow")) || (data22 === null))){
const err39 = {instancePath:instancePath+"/overlap",schemaPath:"#/properties/overlap/enum",keyword:"enum",params:{allowedValues: schema31.properties.overlap.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.catch_up !== undefined){
let data23 = data.catch_up;
if((typeof data23 !== "boolean") && (data23 !== null)){
const err40 = {instancePath:instancePath+"/catch_up",schemaPath:"#/properties/catch_up/type",keyword:"type",params:{type: schema31.properties.catch_up.type},message:"must be boolean,null"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.paused !== undefined){
let data24 = data.paused;
if((typeof data24 !== "boolean") && (data24 !== null)){
const err41 = {instancePath:instancePath+"/paused",schemaPath:"#/properties/paused/type",keyword:"type",params:{type: schema31.properties.paused.type},message:"must be boolean,null"};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.webhook !== undefined){
let data25 = data.webhook;
if((!(data25 && typeof data25 == "object" && !Array.isArray(data25))) && (data25 !== null)){
const err42 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/type",keyword:"type",params:{type: schema31.properties.webhook.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data25 && typeof data25 == "object" && !Array.isArray(data25)){
if(data25.secret === undefined){
const err43 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/required",keyword:"required",params:{missingProperty: "secret"},message:"must have required property '"+"secret"+"'"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
for(const key8 in data25){
if(!((((key8 === "secret") || (key8 === "params")) || (key8 === "inputs")) || (key8 === "replay"))){
const err44 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data25.secret !== undefined){
if(typeof data25.secret !== "string"){
const err45 = {instancePath:instancePath+"/webhook/secret",schemaPath:"#/properties/webhook/properties/secret/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data25.params !== undefined){
let data27 = data25.params;
if((!(data27 && typeof data27 == "object" && !Array.isArray(data27))) && (data27 !== null)){
const err46 = {instancePath:instancePath+"/webhook/params",schemaPath:"#/properties/webhook/properties/params/type",keyword:"type",params:{type: schema31.properties.webhook.properties.params.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data27 && typeof data27 == "object" && !Array.isArray(data27)){
var props4 = {};
for(const key9 in data27){
if(pattern5.test(key9)){
if(typeof data27[key9] !== "string"){
const err47 = {instancePath:instancePath+"/webhook/params/" + key9.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/webhook/properties/params/patternProperties/%5E.*%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
props4[key9] = true;
}
}
}
}
if(data25.inputs !== undefined){
let data29 = data25.inputs;
if((!(data29 && typeof data29 == "object" && !Array.isArray(data29))) && (data29 !== null)){
const err48 = {instancePath:instancePath+"/webhook/inputs",schemaPath:"#/properties/webhook/properties/inputs/type",keyword:"type",params:{type: schema31.properties.webhook.properties.inputs.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data29 && typeof data29 == "object" && !Array.isArray(data29)){
var props5 = {};
for(const key10 in data29){
if(pattern5.test(key10)){
if(typeof data29[key10] !== "string"){
const err49 = {instancePath:instancePath+"/webhook/inputs/" + key10.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/webhook/properties/inputs/patternProperties/%5E.*%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
props5[key10] = true;
}
}
}
}
if(data25.replay !== undefined){
let data31 = data25.replay;
if(!(((data31 === "allow") || (data31 === "refuse")) || (data31 === null))){
const err50 = {instancePath:instancePath+"/webhook/replay",schemaPath:"#/properties/webhook/properties/replay/enum",keyword:"enum",params:{allowedValues: schema31.properties.webhook.properties.replay.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data.priority !== undefined){
let data32 = data.priority;
if((!(((typeof data32 == "number") && (!(data32 % 1) && !isNaN(data32))) && (isFinite(data32)))) && (data32 !== null)){
const err51 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/type",keyword:"type",params:{type: schema31.properties.priority.type},message:"must be integer,null"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data32 == "number") && (isFinite(data32))){
if(data32 > 100 || isNaN(data32)){
const err52 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data32 < -100 || isNaN(data32)){
const err53 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/minimum",keyword:"minimum",params:{comparison: ">=", limit: -100},message:"must be >= -100"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data.max_running !== undefined){
let data33 = data.max_running;
if((!(((typeof data33 == "number") && (!(data33 % 1) && !isNaN(data33))) && (isFinite(data33)))) && (data33 !== null)){
const err54 = {instancePath:instancePath+"/max_running",schemaPath:"#/properties/max_running/type",keyword:"type",params:{type: schema31.properties.max_running.type},message:"must be integer,null"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data33 == "number") && (isFinite(data33))){
if(data33 > 1000000 || isNaN(data33)){
const err55 = {instancePath:instancePath+"/max_running",schemaPath:"#/properties/max_running/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data33 < 1 || isNaN(data33)){
const err56 = {instancePath:instancePath+"/max_running",schemaPath:"#/properties/max_running/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data.on_busy !== undefined){
let data34 = data.on_busy;
if(!((((data34 === "queue") || (data34 === "skip")) || (data34 === "cancel_running")) || (data34 === null))){
const err57 = {instancePath:instancePath+"/on_busy",schemaPath:"#/properties/on_busy/enum",keyword:"enum",params:{allowedValues: schema31.properties.on_busy.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data.concurrency_key !== undefined){
let data35 = data.concurrency_key;
if((typeof data35 !== "string") && (data35 !== null)){
const err58 = {instancePath:instancePath+"/concurrency_key",schemaPath:"#/properties/concurrency_key/type",keyword:"type",params:{type: schema31.properties.concurrency_key.type},message:"must be string,null"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(typeof data35 === "string"){
if(data35.length > 1000){
const err59 = {instancePath:instancePath+"/concurrency_key",schemaPath:"#/properties/concurrency_key/maxLength",keyword:"maxLength",params:{limit: 1000},message:"must NOT have more than 1000 characters"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data.keep !== undefined){
let data36 = data.keep;
if((((!((typeof data36 == "number") && (isFinite(data36)))) && (typeof data36 !== "string")) && (!(data36 && typeof data36 == "object" && !Array.isArray(data36)))) && (data36 !== null)){
const err60 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/type",keyword:"type",params:{type: schema31.properties.keep.type},message:"must be number,string,object,null"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data36 == "number") && (isFinite(data36))){
if(data36 > 315360000 || isNaN(data36)){
const err61 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/maximum",keyword:"maximum",params:{comparison: "<=", limit: 315360000},message:"must be <= 315360000"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data36 <= 0 || isNaN(data36)){
const err62 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data36 === "string"){
if(data36.length < 1){
const err63 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data36)){
const err64 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data36 && typeof data36 == "object" && !Array.isArray(data36)){
for(const key11 in data36){
if(!((key11 === "days") || (key11 === "runs"))){
const err65 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key11},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data36.days !== undefined){
let data37 = data36.days;
if((typeof data37 == "number") && (isFinite(data37))){
if(data37 > 3650 || isNaN(data37)){
const err66 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/maximum",keyword:"maximum",params:{comparison: "<=", limit: 3650},message:"must be <= 3650"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data37 <= 0 || isNaN(data37)){
const err67 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
else {
const err68 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/type",keyword:"type",params:{type: "number"},message:"must be number"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data36.runs !== undefined){
let data38 = data36.runs;
if(!(((typeof data38 == "number") && (!(data38 % 1) && !isNaN(data38))) && (isFinite(data38)))){
const err69 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data38 == "number") && (isFinite(data38))){
if(data38 > 1000000 || isNaN(data38)){
const err70 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data38 < 0 || isNaN(data38)){
const err71 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
}
if(data.timeout !== undefined){
let data39 = data.timeout;
if(((!((typeof data39 == "number") && (isFinite(data39)))) && (typeof data39 !== "string")) && (data39 !== null)){
const err72 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/type",keyword:"type",params:{type: schema31.properties.timeout.type},message:"must be number,string,null"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data39 == "number") && (isFinite(data39))){
if(data39 > 315360000 || isNaN(data39)){
const err73 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 315360000},message:"must be <= 315360000"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data39 <= 0 || isNaN(data39)){
const err74 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data39 === "string"){
if(data39.length < 1){
const err75 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data39)){
const err76 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data.on_success !== undefined){
let data40 = data.on_success;
if((!(Array.isArray(data40))) && (data40 !== null)){
const err77 = {instancePath:instancePath+"/on_success",schemaPath:"#/properties/on_success/type",keyword:"type",params:{type: schema31.properties.on_success.type},message:"must be array,null"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data40)){
if(data40.length < 1){
const err78 = {instancePath:instancePath+"/on_success",schemaPath:"#/properties/on_success/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len2 = data40.length;
for(let i2=0; i2<len2; i2++){
let data41 = data40[i2];
if(!(data41 && typeof data41 == "object" && !Array.isArray(data41))){
const err79 = {instancePath:instancePath+"/on_success/" + i2,schemaPath:"#/properties/on_success/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data.on_failure !== undefined){
let data42 = data.on_failure;
if((!(Array.isArray(data42))) && (data42 !== null)){
const err80 = {instancePath:instancePath+"/on_failure",schemaPath:"#/properties/on_failure/type",keyword:"type",params:{type: schema31.properties.on_failure.type},message:"must be array,null"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data42)){
if(data42.length < 1){
const err81 = {instancePath:instancePath+"/on_failure",schemaPath:"#/properties/on_failure/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len3 = data42.length;
for(let i3=0; i3<len3; i3++){
let data43 = data42[i3];
if(!(data43 && typeof data43 == "object" && !Array.isArray(data43))){
const err82 = {instancePath:instancePath+"/on_failure/" + i3,schemaPath:"#/properties/on_failure/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data.on_cancel !== undefined){
let data44 = data.on_cancel;
if((!(Array.isArray(data44))) && (data44 !== null)){
const err83 = {instancePath:instancePath+"/on_cancel",schemaPath:"#/properties/on_cancel/type",keyword:"type",params:{type: schema31.properties.on_cancel.type},message:"must be array,null"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data44)){
if(data44.length < 1){
const err84 = {instancePath:instancePath+"/on_cancel",schemaPath:"#/properties/on_cancel/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len4 = data44.length;
for(let i4=0; i4<len4; i4++){
let data45 = data44[i4];
if(!(data45 && typeof data45 == "object" && !Array.isArray(data45))){
const err85 = {instancePath:instancePath+"/on_cancel/" + i4,schemaPath:"#/properties/on_cancel/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data.finally !== undefined){
let data46 = data.finally;
if((!(Array.isArray(data46))) && (data46 !== null)){
const err86 = {instancePath:instancePath+"/finally",schemaPath:"#/properties/finally/type",keyword:"type",params:{type: schema31.properties.finally.type},message:"must be array,null"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data46)){
if(data46.length < 1){
const err87 = {instancePath:instancePath+"/finally",schemaPath:"#/properties/finally/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len5 = data46.length;
for(let i5=0; i5<len5; i5++){
let data47 = data46[i5];
if(!(data47 && typeof data47 == "object" && !Array.isArray(data47))){
const err88 = {instancePath:instancePath+"/finally/" + i5,schemaPath:"#/properties/finally/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data.handler_timeout !== undefined){
let data48 = data.handler_timeout;
if(((!((typeof data48 == "number") && (isFinite(data48)))) && (typeof data48 !== "string")) && (data48 !== null)){
const err89 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/type",keyword:"type",params:{type: schema31.properties.handler_timeout.type},message:"must be number,string,null"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data48 == "number") && (isFinite(data48))){
if(data48 > 315360000 || isNaN(data48)){
const err90 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 315360000},message:"must be <= 315360000"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data48 <= 0 || isNaN(data48)){
const err91 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data48 === "string"){
if(data48.length < 1){
const err92 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data48)){
const err93 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data.tasks !== undefined){
let data49 = data.tasks;
if(Array.isArray(data49)){
if(data49.length < 1){
const err94 = {instancePath:instancePath+"/tasks",schemaPath:"#/properties/tasks/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len6 = data49.length;
for(let i6=0; i6<len6; i6++){
let data50 = data49[i6];
if(data50 && typeof data50 == "object" && !Array.isArray(data50)){
if(data50.id === undefined){
const err95 = {instancePath:instancePath+"/tasks/" + i6,schemaPath:"#/properties/tasks/items/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data50.tool === undefined){
const err96 = {instancePath:instancePath+"/tasks/" + i6,schemaPath:"#/properties/tasks/items/required",keyword:"required",params:{missingProperty: "tool"},message:"must have required property '"+"tool"+"'"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
for(const key12 in data50){
if(!(func1.call(schema31.properties.tasks.items.properties, key12))){
const err97 = {instancePath:instancePath+"/tasks/" + i6,schemaPath:"#/properties/tasks/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key12},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data50.id !== undefined){
let data51 = data50.id;
if(typeof data51 === "string"){
if(!pattern17.test(data51)){
const err98 = {instancePath:instancePath+"/tasks/" + i6+"/id",schemaPath:"#/properties/tasks/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,127}$"},message:"must match pattern \""+"^[A-Za-z_][A-Za-z0-9_-]{0,127}$"+"\""};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
else {
const err99 = {instancePath:instancePath+"/tasks/" + i6+"/id",schemaPath:"#/properties/tasks/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data50.tool !== undefined){
if(typeof data50.tool !== "string"){
const err100 = {instancePath:instancePath+"/tasks/" + i6+"/tool",schemaPath:"#/properties/tasks/items/properties/tool/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data50.inputs !== undefined){
let data53 = data50.inputs;
if((!(data53 && typeof data53 == "object" && !Array.isArray(data53))) && (data53 !== null)){
const err101 = {instancePath:instancePath+"/tasks/" + i6+"/inputs",schemaPath:"#/properties/tasks/items/properties/inputs/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.inputs.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data53 && typeof data53 == "object" && !Array.isArray(data53)){
var props6 = {};
for(const key13 in data53){
if(pattern5.test(key13)){
props6[key13] = true;
}
}
}
}
if(data50.parallel_over !== undefined){
let data54 = data50.parallel_over;
if((typeof data54 !== "string") && (data54 !== null)){
const err102 = {instancePath:instancePath+"/tasks/" + i6+"/parallel_over",schemaPath:"#/properties/tasks/items/properties/parallel_over/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.parallel_over.type},message:"must be string,null"};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data50.fan_out_concurrency !== undefined){
let data55 = data50.fan_out_concurrency;
if((!(((typeof data55 == "number") && (!(data55 % 1) && !isNaN(data55))) && (isFinite(data55)))) && (data55 !== null)){
const err103 = {instancePath:instancePath+"/tasks/" + i6+"/fan_out_concurrency",schemaPath:"#/properties/tasks/items/properties/fan_out_concurrency/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.fan_out_concurrency.type},message:"must be integer,null"};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data55 == "number") && (isFinite(data55))){
if(data55 < 1 || isNaN(data55)){
const err104 = {instancePath:instancePath+"/tasks/" + i6+"/fan_out_concurrency",schemaPath:"#/properties/tasks/items/properties/fan_out_concurrency/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data50.on_item_error !== undefined){
let data56 = data50.on_item_error;
if(!(((data56 === "fail") || (data56 === "collect")) || (data56 === null))){
const err105 = {instancePath:instancePath+"/tasks/" + i6+"/on_item_error",schemaPath:"#/properties/tasks/items/properties/on_item_error/enum",keyword:"enum",params:{allowedValues: schema31.properties.tasks.items.properties.on_item_error.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data50.when !== undefined){
let data57 = data50.when;
if((typeof data57 != "object") && (typeof data57 !== "string")){
const err106 = {instancePath:instancePath+"/tasks/" + i6+"/when",schemaPath:"#/properties/tasks/items/properties/when/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.when.type},message:"must be string,object,array,null"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data57)){
if(data57.length > 20){
const err107 = {instancePath:instancePath+"/tasks/" + i6+"/when",schemaPath:"#/properties/tasks/items/properties/when/maxItems",keyword:"maxItems",params:{limit: 20},message:"must NOT have more than 20 items"};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data57.length < 1){
const err108 = {instancePath:instancePath+"/tasks/" + i6+"/when",schemaPath:"#/properties/tasks/items/properties/when/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len7 = data57.length;
for(let i7=0; i7<len7; i7++){
let data58 = data57[i7];
if((typeof data58 !== "string") && (!(data58 && typeof data58 == "object" && !Array.isArray(data58)))){
const err109 = {instancePath:instancePath+"/tasks/" + i6+"/when/" + i7,schemaPath:"#/properties/tasks/items/properties/when/items/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.when.items.type},message:"must be string,object"};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data58 && typeof data58 == "object" && !Array.isArray(data58)){
if(data58.value === undefined){
const err110 = {instancePath:instancePath+"/tasks/" + i6+"/when/" + i7,schemaPath:"#/properties/tasks/items/properties/when/items/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data58.value !== undefined){
if(typeof data58.value !== "string"){
const err111 = {instancePath:instancePath+"/tasks/" + i6+"/when/" + i7+"/value",schemaPath:"#/properties/tasks/items/properties/when/items/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
}
if(data57 && typeof data57 == "object" && !Array.isArray(data57)){
if(data57.value === undefined){
const err112 = {instancePath:instancePath+"/tasks/" + i6+"/when",schemaPath:"#/properties/tasks/items/properties/when/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data57.value !== undefined){
if(typeof data57.value !== "string"){
const err113 = {instancePath:instancePath+"/tasks/" + i6+"/when/value",schemaPath:"#/properties/tasks/items/properties/when/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data50.on_error !== undefined){
let data61 = data50.on_error;
if(!(((data61 === "fail") || (data61 === "continue")) || (data61 === null))){
const err114 = {instancePath:instancePath+"/tasks/" + i6+"/on_error",schemaPath:"#/properties/tasks/items/properties/on_error/enum",keyword:"enum",params:{allowedValues: schema31.properties.tasks.items.properties.on_error.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data50.await !== undefined){
let data62 = data50.await;
if((!(Array.isArray(data62))) && (data62 !== null)){
const err115 = {instancePath:instancePath+"/tasks/" + i6+"/await",schemaPath:"#/properties/tasks/items/properties/await/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.await.type},message:"must be array,null"};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data62)){
const len8 = data62.length;
for(let i8=0; i8<len8; i8++){
if(typeof data62[i8] !== "string"){
const err116 = {instancePath:instancePath+"/tasks/" + i6+"/await/" + i8,schemaPath:"#/properties/tasks/items/properties/await/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data50.repeat !== undefined){
let data64 = data50.repeat;
if((!(data64 && typeof data64 == "object" && !Array.isArray(data64))) && (data64 !== null)){
const err117 = {instancePath:instancePath+"/tasks/" + i6+"/repeat",schemaPath:"#/properties/tasks/items/properties/repeat/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.repeat.type},message:"must be object,null"};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data64 && typeof data64 == "object" && !Array.isArray(data64)){
if(data64.until === undefined){
const err118 = {instancePath:instancePath+"/tasks/" + i6+"/repeat",schemaPath:"#/properties/tasks/items/properties/repeat/required",keyword:"required",params:{missingProperty: "until"},message:"must have required property '"+"until"+"'"};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
for(const key14 in data64){
if(!(((key14 === "until") || (key14 === "every")) || (key14 === "at_most"))){
const err119 = {instancePath:instancePath+"/tasks/" + i6+"/repeat",schemaPath:"#/properties/tasks/items/properties/repeat/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key14},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data64.until !== undefined){
let data65 = data64.until;
if((!data65 || typeof data65 != "object") && (typeof data65 !== "string")){
const err120 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until",schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.repeat.properties.until.type},message:"must be string,object,array"};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(Array.isArray(data65)){
if(data65.length > 20){
const err121 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until",schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/maxItems",keyword:"maxItems",params:{limit: 20},message:"must NOT have more than 20 items"};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data65.length < 1){
const err122 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until",schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
const len9 = data65.length;
for(let i9=0; i9<len9; i9++){
let data66 = data65[i9];
if((typeof data66 !== "string") && (!(data66 && typeof data66 == "object" && !Array.isArray(data66)))){
const err123 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until/" + i9,schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/items/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.repeat.properties.until.items.type},message:"must be string,object"};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data66 && typeof data66 == "object" && !Array.isArray(data66)){
if(data66.value === undefined){
const err124 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until/" + i9,schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/items/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data66.value !== undefined){
if(typeof data66.value !== "string"){
const err125 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until/" + i9+"/value",schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/items/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
}
if(data65 && typeof data65 == "object" && !Array.isArray(data65)){
if(data65.value === undefined){
const err126 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until",schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data65.value !== undefined){
if(typeof data65.value !== "string"){
const err127 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/until/value",schemaPath:"#/properties/tasks/items/properties/repeat/properties/until/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
if(data64.every !== undefined){
let data69 = data64.every;
if((!((typeof data69 == "number") && (isFinite(data69)))) && (typeof data69 !== "string")){
const err128 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/every",schemaPath:"#/properties/tasks/items/properties/repeat/properties/every/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.repeat.properties.every.type},message:"must be number,string"};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data69 == "number") && (isFinite(data69))){
if(data69 > 604800 || isNaN(data69)){
const err129 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/every",schemaPath:"#/properties/tasks/items/properties/repeat/properties/every/maximum",keyword:"maximum",params:{comparison: "<=", limit: 604800},message:"must be <= 604800"};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data69 < 0 || isNaN(data69)){
const err130 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/every",schemaPath:"#/properties/tasks/items/properties/repeat/properties/every/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data69 === "string"){
if(data69.length < 1){
const err131 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/every",schemaPath:"#/properties/tasks/items/properties/repeat/properties/every/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data69)){
const err132 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/every",schemaPath:"#/properties/tasks/items/properties/repeat/properties/every/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data64.at_most !== undefined){
let data70 = data64.at_most;
if(!(((typeof data70 == "number") && (!(data70 % 1) && !isNaN(data70))) && (isFinite(data70)))){
const err133 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/at_most",schemaPath:"#/properties/tasks/items/properties/repeat/properties/at_most/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data70 == "number") && (isFinite(data70))){
if(data70 > 10000 || isNaN(data70)){
const err134 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/at_most",schemaPath:"#/properties/tasks/items/properties/repeat/properties/at_most/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000},message:"must be <= 10000"};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data70 < 1 || isNaN(data70)){
const err135 = {instancePath:instancePath+"/tasks/" + i6+"/repeat/at_most",schemaPath:"#/properties/tasks/items/properties/repeat/properties/at_most/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
}
if(data50.retry !== undefined){
let data71 = data50.retry;
if((!(((typeof data71 == "number") && (!(data71 % 1) && !isNaN(data71))) && (isFinite(data71)))) && (data71 !== null)){
const err136 = {instancePath:instancePath+"/tasks/" + i6+"/retry",schemaPath:"#/properties/tasks/items/properties/retry/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.retry.type},message:"must be integer,null"};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data71 == "number") && (isFinite(data71))){
if(data71 < 0 || isNaN(data71)){
const err137 = {instancePath:instancePath+"/tasks/" + i6+"/retry",schemaPath:"#/properties/tasks/items/properties/retry/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data50.retry_delay !== undefined){
let data72 = data50.retry_delay;
if(((!((typeof data72 == "number") && (isFinite(data72)))) && (typeof data72 !== "string")) && (data72 !== null)){
const err138 = {instancePath:instancePath+"/tasks/" + i6+"/retry_delay",schemaPath:"#/properties/tasks/items/properties/retry_delay/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.retry_delay.type},message:"must be number,string,null"};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data72 == "number") && (isFinite(data72))){
if(data72 < 0 || isNaN(data72)){
const err139 = {instancePath:instancePath+"/tasks/" + i6+"/retry_delay",schemaPath:"#/properties/tasks/items/properties/retry_delay/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data72 === "string"){
if(data72.length < 1){
const err140 = {instancePath:instancePath+"/tasks/" + i6+"/retry_delay",schemaPath:"#/properties/tasks/items/properties/retry_delay/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data72)){
const err141 = {instancePath:instancePath+"/tasks/" + i6+"/retry_delay",schemaPath:"#/properties/tasks/items/properties/retry_delay/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data50.max_retry_delay !== undefined){
let data73 = data50.max_retry_delay;
if(((!((typeof data73 == "number") && (isFinite(data73)))) && (typeof data73 !== "string")) && (data73 !== null)){
const err142 = {instancePath:instancePath+"/tasks/" + i6+"/max_retry_delay",schemaPath:"#/properties/tasks/items/properties/max_retry_delay/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.max_retry_delay.type},message:"must be number,string,null"};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data73 == "number") && (isFinite(data73))){
if(data73 < 0 || isNaN(data73)){
const err143 = {instancePath:instancePath+"/tasks/" + i6+"/max_retry_delay",schemaPath:"#/properties/tasks/items/properties/max_retry_delay/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data73 === "string"){
if(data73.length < 1){
const err144 = {instancePath:instancePath+"/tasks/" + i6+"/max_retry_delay",schemaPath:"#/properties/tasks/items/properties/max_retry_delay/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data73)){
const err145 = {instancePath:instancePath+"/tasks/" + i6+"/max_retry_delay",schemaPath:"#/properties/tasks/items/properties/max_retry_delay/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data50.cache !== undefined){
let data74 = data50.cache;
if(((typeof data74 !== "boolean") && (!(data74 && typeof data74 == "object" && !Array.isArray(data74)))) && (data74 !== null)){
const err146 = {instancePath:instancePath+"/tasks/" + i6+"/cache",schemaPath:"#/properties/tasks/items/properties/cache/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.cache.type},message:"must be boolean,object,null"};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(data74 && typeof data74 == "object" && !Array.isArray(data74)){
for(const key15 in data74){
if(!(key15 === "ttl")){
const err147 = {instancePath:instancePath+"/tasks/" + i6+"/cache",schemaPath:"#/properties/tasks/items/properties/cache/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key15},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(data74.ttl !== undefined){
let data75 = data74.ttl;
if((!((typeof data75 == "number") && (isFinite(data75)))) && (typeof data75 !== "string")){
const err148 = {instancePath:instancePath+"/tasks/" + i6+"/cache/ttl",schemaPath:"#/properties/tasks/items/properties/cache/properties/ttl/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.cache.properties.ttl.type},message:"must be number,string"};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data75 == "number") && (isFinite(data75))){
if(data75 <= 0 || isNaN(data75)){
const err149 = {instancePath:instancePath+"/tasks/" + i6+"/cache/ttl",schemaPath:"#/properties/tasks/items/properties/cache/properties/ttl/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data75 === "string"){
if(data75.length < 1){
const err150 = {instancePath:instancePath+"/tasks/" + i6+"/cache/ttl",schemaPath:"#/properties/tasks/items/properties/cache/properties/ttl/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data75)){
const err151 = {instancePath:instancePath+"/tasks/" + i6+"/cache/ttl",schemaPath:"#/properties/tasks/items/properties/cache/properties/ttl/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
}
if(data50.timeout !== undefined){
let data76 = data50.timeout;
if(((!((typeof data76 == "number") && (isFinite(data76)))) && (typeof data76 !== "string")) && (data76 !== null)){
const err152 = {instancePath:instancePath+"/tasks/" + i6+"/timeout",schemaPath:"#/properties/tasks/items/properties/timeout/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.timeout.type},message:"must be number,string,null"};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if((typeof data76 == "number") && (isFinite(data76))){
if(data76 <= 0 || isNaN(data76)){
const err153 = {instancePath:instancePath+"/tasks/" + i6+"/timeout",schemaPath:"#/properties/tasks/items/properties/timeout/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
if(vErrors === null){
vErrors = [err153];
}
else {
vErrors.push(err153);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
if(typeof data76 === "string"){
if(data76.length < 1){
const err154 = {instancePath:instancePath+"/tasks/" + i6+"/timeout",schemaPath:"#/properties/tasks/items/properties/timeout/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err154];
}
else {
vErrors.push(err154);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(!pattern14.test(data76)){
const err155 = {instancePath:instancePath+"/tasks/" + i6+"/timeout",schemaPath:"#/properties/tasks/items/properties/timeout/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
if(vErrors === null){
vErrors = [err155];
}
else {
vErrors.push(err155);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
if(data50.pool !== undefined){
let data77 = data50.pool;
if((typeof data77 !== "string") && (data77 !== null)){
const err156 = {instancePath:instancePath+"/tasks/" + i6+"/pool",schemaPath:"#/properties/tasks/items/properties/pool/type",keyword:"type",params:{type: schema31.properties.tasks.items.properties.pool.type},message:"must be string,null"};
if(vErrors === null){
vErrors = [err156];
}
else {
vErrors.push(err156);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
if(typeof data77 === "string"){
if(!pattern17.test(data77)){
const err157 = {instancePath:instancePath+"/tasks/" + i6+"/pool",schemaPath:"#/properties/tasks/items/properties/pool/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,127}$"},message:"must match pattern \""+"^[A-Za-z_][A-Za-z0-9_-]{0,127}$"+"\""};
if(vErrors === null){
vErrors = [err157];
}
else {
vErrors.push(err157);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
}
else {
const err158 = {instancePath:instancePath+"/tasks/" + i6,schemaPath:"#/properties/tasks/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err158];
}
else {
vErrors.push(err158);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
else {
const err159 = {instancePath:instancePath+"/tasks",schemaPath:"#/properties/tasks/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err159];
}
else {
vErrors.push(err159);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
}
}
else {
const err160 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err160];
}
else {
vErrors.push(err160);
}
if(++errors > 1000){
validate20.errors = vErrors;
return false;
}
}
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

