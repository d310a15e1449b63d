// Generated from lib/definition/schema/plan-schema.ts by "npm run generate".
"use strict";
export const validate = validate20;
export default validate20;
const schema31 = {"type":"object","required":["id","sub_pipelines"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$","description":"Names the plan."},"goal":{"type":["string","null"],"maxLength":10000,"description":"Purpose of the plan."},"description":{"type":["string","null"],"description":"Longer description for readers."},"version":{"type":["string","null"],"description":"Free text; quote it, or YAML reads a number."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Default values, passed to the sub-pipelines that list them."},"plan_concurrency":{"type":["integer","null"],"minimum":1,"default":1,"description":"How many independent sub-pipelines may run together."},"labels":{"type":["object","null"],"patternProperties":{"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$":{"type":"string","maxLength":128,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}},"additionalProperties":false,"maxProperties":20,"description":"Labels of its runs, as in {team: billing}: lists of runs are filtered by them."},"schedule":{"type":["string","array","null"],"items":{"type":"string","maxLength":200},"minItems":1,"maxItems":10,"maxLength":200,"description":"When a server that has the file in its folder starts it: the five fields of cron, as in \"0 6 * * 1-5\", or @daily and the like; or a list of them."},"timezone":{"type":["string","null"],"maxLength":100,"default":"UTC","description":"Time zone of the schedule, as in Europe/Berlin."},"overlap":{"enum":["skip","queue","allow",null],"default":"skip","description":"What happens when a time of the schedule comes while its last run is at work."},"catch_up":{"type":["boolean","null"],"default":false,"description":"Whether one run makes up for missed times of the schedule."},"paused":{"type":["boolean","null"],"default":false,"description":"Whether the schedule rests: its times start nothing, and none of them is missed."},"webhook":{"type":["object","null"],"required":["secret"],"properties":{"secret":{"type":"string","description":"Name of the secret that a request must prove to know."},"params":{"type":["object","null"],"patternProperties":{"^.*$":{"type":"string"}},"description":"Params, each with the JSON Pointer of its value in the body. Default: fields of the body that are params. Not in a plan."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{"type":"string"}},"description":"Inputs, each with the JSON Pointer of its value in the body; \"\" is the whole body."},"replay":{"enum":["allow","refuse",null],"default":"allow","description":"Whether a signature of the body alone may come again, with another id of the delivery: \"refuse\" responds with the first run."}},"additionalProperties":false,"description":"Lets a request from elsewhere start it."},"priority":{"type":["integer","null"],"minimum":-100,"maximum":100,"default":0,"description":"Which queued runs of a tenant begin first on a server: those with the higher number; of equal ones, those that came first."},"max_running":{"type":["integer","null"],"minimum":1,"maximum":1000000,"description":"How many of its runs are at work at once on a server that has the file in its folder; more wait."},"on_busy":{"enum":["queue","skip","cancel_running",null],"default":"queue","description":"What happens to a run beyond max_running. queue: it waits. skip: it is refused. cancel_running: those at work are cancelled."},"keep":{"type":["number","string","object","null"],"exclusiveMinimum":0,"maximum":315360000,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","properties":{"days":{"type":"number","exclusiveMinimum":0,"maximum":3650,"description":"Days for which a settled run is kept."},"runs":{"type":"integer","minimum":0,"maximum":1000000,"description":"How many settled runs are kept, the newest."}},"additionalProperties":false,"description":"How long a server with a store keeps settled runs, in seconds or as in 7d, instead of SERVICE_RUN_TTL; or {days, runs}."},"timeout":{"type":["number","string","null"],"exclusiveMinimum":0,"maximum":315360000,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"Limit for the whole run from its start, in seconds or as in 1h30m; time at breakpoints does not count. The run then fails as run_timeout."},"on_success":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run after all others when the run has succeeded."},"on_failure":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run after all others when the run has failed, as to alert somebody."},"on_cancel":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run after all others when the run was cancelled."},"finally":{"type":["array","null"],"minItems":1,"items":{"type":"object"},"description":"Tasks that run last, however the run has ended, as to clean up."},"handler_timeout":{"type":["number","string","null"],"exclusiveMinimum":0,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","description":"Limit for each list of handlers, in seconds or as in 10m. Default: 5m.","maximum":315360000},"sub_pipelines":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_-]{0,127}$","description":"Unique in the plan."},"goal":{"type":["string","null"],"maxLength":10000,"description":"Purpose of the sub-pipeline."},"reads":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Blackboard keys that it reads. It runs after the sub-pipelines that store them."},"stores":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Blackboard keys that it stores. No other sub-pipeline stores them."},"when":{"type":["string","object","array","null"],"properties":{"value":{"type":"string","description":"The template whose value is looked at."}},"required":["value"],"items":{"type":["string","object"],"properties":{"value":{"type":"string","description":"The template whose value is looked at."}},"required":["value"]},"minItems":1,"maxItems":20,"description":"A condition over {{session.KEY}} and {{pipeline.inputs.KEY}} of the plan, or a list of which each must hold: otherwise the sub-pipeline is skipped."},"inputs":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Inputs of the plan that are passed to it."},"file":{"type":["string","null"],"minLength":1,"description":"Its pipeline file, beside or below the plan file. Default: the sibling ID.yaml."},"pipeline":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Its pipeline, instead of a file."}},"additionalProperties":false,"description":"A pipeline within a plan."},"minItems":1,"maxItems":2000,"description":"The pipelines. The keys they read and store determine the order."}},"additionalProperties":false,"description":"A plan: pipelines that pass values through the blackboard."};
const func1 = Object.prototype.hasOwnProperty;
const pattern4 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", "u");
const pattern5 = new RegExp("^.*$", "u");
const pattern6 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$", "u");
const pattern8 = new RegExp("^[^\\u0000-\\u001f\\u007f-\\u009f]*$", "u");
const pattern11 = new RegExp("^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$", "u");
const pattern14 = new RegExp("^[A-Za-z_][A-Za-z0-9_-]{0,127}$", "u");

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
if(data.sub_pipelines === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "sub_pipelines"},message:"must have required property '"+"sub_pipelines"+"'"};
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
for(const key0 in data){
if(!(func1.call(schema31.properties, key0))){
const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
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
}
if(data.id !== undefined){
let data0 = data.id;
if(typeof data0 === "string"){
if(!pattern4.test(data0)){
const err3 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"},message:"must match pattern \""+"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"+"\""};
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
else {
const err4 = {instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data.goal !== undefined){
let data1 = data.goal;
if((typeof data1 !== "string") && (data1 !== null)){
const err5 = {instancePath:instancePath+"/goal",schemaPath:"#/properties/goal/type",keyword:"type",params:{type: schema31.properties.goal.type},message:"must be string,null"};
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
}
if(data.description !== undefined){
let data2 = data.description;
if((typeof data2 !== "string") && (data2 !== null)){
const err7 = {instancePath:instancePath+"/description",schemaPath:"#/properties/description/type",keyword:"type",params:{type: schema31.properties.description.type},message:"must be string,null"};
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
if(data.version !== undefined){
let data3 = data.version;
if((typeof data3 !== "string") && (data3 !== null)){
const err8 = {instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: schema31.properties.version.type},message:"must be string,null"};
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
if(data.inputs !== undefined){
let data4 = data.inputs;
if((!(data4 && typeof data4 == "object" && !Array.isArray(data4))) && (data4 !== null)){
const err9 = {instancePath:instancePath+"/inputs",schemaPath:"#/properties/inputs/type",keyword:"type",params:{type: schema31.properties.inputs.type},message:"must be object,null"};
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
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
var props0 = {};
for(const key1 in data4){
if(pattern5.test(key1)){
props0[key1] = true;
}
}
}
}
if(data.plan_concurrency !== undefined){
let data5 = data.plan_concurrency;
if((!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))) && (data5 !== null)){
const err10 = {instancePath:instancePath+"/plan_concurrency",schemaPath:"#/properties/plan_concurrency/type",keyword:"type",params:{type: schema31.properties.plan_concurrency.type},message:"must be integer,null"};
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
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 < 1 || isNaN(data5)){
const err11 = {instancePath:instancePath+"/plan_concurrency",schemaPath:"#/properties/plan_concurrency/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
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
}
if(data.labels !== undefined){
let data6 = data.labels;
if((!(data6 && typeof data6 == "object" && !Array.isArray(data6))) && (data6 !== null)){
const err12 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/type",keyword:"type",params:{type: schema31.properties.labels.type},message:"must be object,null"};
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
if(data6 && typeof data6 == "object" && !Array.isArray(data6)){
if(Object.keys(data6).length > 20){
const err13 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/maxProperties",keyword:"maxProperties",params:{limit: 20},message:"must NOT have more than 20 properties"};
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
for(const key2 in data6){
if(!(pattern6.test(key2))){
const err14 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
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
for(const key3 in data6){
if(pattern6.test(key3)){
let data7 = data6[key3];
if(typeof data7 === "string"){
if(data7.length > 128){
const err15 = {instancePath:instancePath+"/labels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/patternProperties/%5E%5BA-Za-z0-9_%5D%5BA-Za-z0-9_.-%5D%7B0%2C63%7D%24/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"};
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
if(!pattern8.test(data7)){
const err16 = {instancePath:instancePath+"/labels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/patternProperties/%5E%5BA-Za-z0-9_%5D%5BA-Za-z0-9_.-%5D%7B0%2C63%7D%24/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"+"\""};
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
else {
const err17 = {instancePath:instancePath+"/labels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/patternProperties/%5E%5BA-Za-z0-9_%5D%5BA-Za-z0-9_.-%5D%7B0%2C63%7D%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data.schedule !== undefined){
let data8 = data.schedule;
if(((typeof data8 !== "string") && (!(Array.isArray(data8)))) && (data8 !== null)){
const err18 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/type",keyword:"type",params:{type: schema31.properties.schedule.type},message:"must be string,array,null"};
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
if(typeof data8 === "string"){
if(data8.length > 200){
const err19 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};
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
if(Array.isArray(data8)){
if(data8.length > 10){
const err20 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/maxItems",keyword:"maxItems",params:{limit: 10},message:"must NOT have more than 10 items"};
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
if(data8.length < 1){
const err21 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len0 = data8.length;
for(let i0=0; i0<len0; i0++){
let data9 = data8[i0];
if(typeof data9 === "string"){
if(data9.length > 200){
const err22 = {instancePath:instancePath+"/schedule/" + i0,schemaPath:"#/properties/schedule/items/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};
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
}
else {
const err23 = {instancePath:instancePath+"/schedule/" + i0,schemaPath:"#/properties/schedule/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data.timezone !== undefined){
let data10 = data.timezone;
if((typeof data10 !== "string") && (data10 !== null)){
const err24 = {instancePath:instancePath+"/timezone",schemaPath:"#/properties/timezone/type",keyword:"type",params:{type: schema31.properties.timezone.type},message:"must be string,null"};
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
if(typeof data10 === "string"){
if(data10.length > 100){
const err25 = {instancePath:instancePath+"/timezone",schemaPath:"#/properties/timezone/maxLength",keyword:"maxLength",params:{limit: 100},message:"must NOT have more than 100 characters"};
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
}
}
if(data.overlap !== undefined){
let data11 = data.overlap;
if(!((((data11 === "skip") || (data11 === "queue")) || (data11 === "allow")) || (data11 === null))){
const err26 = {instancePath:instancePath+"/overlap",schemaPath:"#/properties/overlap/enum",keyword:"enum",params:{allowedValues: schema31.properties.overlap.enum},message:"must be equal to one of the allowed values"};
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
}
if(data.catch_up !== undefined){
let data12 = data.catch_up;
if((typeof data12 !== "boolean") && (data12 !== null)){
const err27 = {instancePath:instancePath+"/catch_up",schemaPath:"#/properties/catch_up/type",keyword:"type",params:{type: schema31.properties.catch_up.type},message:"must be boolean,null"};
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
if(data.paused !== undefined){
let data13 = data.paused;
if((typeof data13 !== "boolean") && (data13 !== null)){
const err28 = {instancePath:instancePath+"/paused",schemaPath:"#/properties/paused/type",keyword:"type",params:{type: schema31.properties.paused.type},message:"must be boolean,null"};
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
}
if(data.webhook !== undefined){
let data14 = data.webhook;
if((!(data14 && typeof data14 == "object" && !Array.isArray(data14))) && (data14 !== null)){
const err29 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/type",keyword:"type",params:{type: schema31.properties.webhook.type},message:"must be object,null"};
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
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
if(data14.secret === undefined){
const err30 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/required",keyword:"required",params:{missingProperty: "secret"},message:"must have required property '"+"secret"+"'"};
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
for(const key4 in data14){
if(!((((key4 === "secret") || (key4 === "params")) || (key4 === "inputs")) || (key4 === "replay"))){
const err31 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};
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
}
if(data14.secret !== undefined){
if(typeof data14.secret !== "string"){
const err32 = {instancePath:instancePath+"/webhook/secret",schemaPath:"#/properties/webhook/properties/secret/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data14.params !== undefined){
let data16 = data14.params;
if((!(data16 && typeof data16 == "object" && !Array.isArray(data16))) && (data16 !== null)){
const err33 = {instancePath:instancePath+"/webhook/params",schemaPath:"#/properties/webhook/properties/params/type",keyword:"type",params:{type: schema31.properties.webhook.properties.params.type},message:"must be object,null"};
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
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
var props1 = {};
for(const key5 in data16){
if(pattern5.test(key5)){
if(typeof data16[key5] !== "string"){
const err34 = {instancePath:instancePath+"/webhook/params/" + key5.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/webhook/properties/params/patternProperties/%5E.*%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
props1[key5] = true;
}
}
}
}
if(data14.inputs !== undefined){
let data18 = data14.inputs;
if((!(data18 && typeof data18 == "object" && !Array.isArray(data18))) && (data18 !== null)){
const err35 = {instancePath:instancePath+"/webhook/inputs",schemaPath:"#/properties/webhook/properties/inputs/type",keyword:"type",params:{type: schema31.properties.webhook.properties.inputs.type},message:"must be object,null"};
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
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
var props2 = {};
for(const key6 in data18){
if(pattern5.test(key6)){
if(typeof data18[key6] !== "string"){
const err36 = {instancePath:instancePath+"/webhook/inputs/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/webhook/properties/inputs/patternProperties/%5E.*%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
props2[key6] = true;
}
}
}
}
if(data14.replay !== undefined){
let data20 = data14.replay;
if(!(((data20 === "allow") || (data20 === "refuse")) || (data20 === null))){
const err37 = {instancePath:instancePath+"/webhook/replay",schemaPath:"#/properties/webhook/properties/replay/enum",keyword:"enum",params:{allowedValues: schema31.properties.webhook.properties.replay.enum},message:"must be equal to one of the allowed values"};
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
}
}
}
if(data.priority !== undefined){
let data21 = data.priority;
if((!(((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21))) && (isFinite(data21)))) && (data21 !== null)){
const err38 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/type",keyword:"type",params:{type: schema31.properties.priority.type},message:"must be integer,null"};
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
if((typeof data21 == "number") && (isFinite(data21))){
if(data21 > 100 || isNaN(data21)){
const err39 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
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
if(data21 < -100 || isNaN(data21)){
const err40 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/minimum",keyword:"minimum",params:{comparison: ">=", limit: -100},message:"must be >= -100"};
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
}
if(data.max_running !== undefined){
let data22 = data.max_running;
if((!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))) && (data22 !== null)){
const err41 = {instancePath:instancePath+"/max_running",schemaPath:"#/properties/max_running/type",keyword:"type",params:{type: schema31.properties.max_running.type},message:"must be integer,null"};
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
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 > 1000000 || isNaN(data22)){
const err42 = {instancePath:instancePath+"/max_running",schemaPath:"#/properties/max_running/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
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
if(data22 < 1 || isNaN(data22)){
const err43 = {instancePath:instancePath+"/max_running",schemaPath:"#/properties/max_running/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
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
}
}
if(data.on_busy !== undefined){
let data23 = data.on_busy;
if(!((((data23 === "queue") || (data23 === "skip")) || (data23 === "cancel_running")) || (data23 === null))){
const err44 = {instancePath:instancePath+"/on_busy",schemaPath:"#/properties/on_busy/enum",keyword:"enum",params:{allowedValues: schema31.properties.on_busy.enum},message:"must be equal to one of the allowed values"};
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
if(data.keep !== undefined){
let data24 = data.keep;
if((((!((typeof data24 == "number") && (isFinite(data24)))) && (typeof data24 !== "string")) && (!(data24 && typeof data24 == "object" && !Array.isArray(data24)))) && (data24 !== null)){
const err45 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/type",keyword:"type",params:{type: schema31.properties.keep.type},message:"must be number,string,object,null"};
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
if((typeof data24 == "number") && (isFinite(data24))){
if(data24 > 315360000 || isNaN(data24)){
const err46 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/maximum",keyword:"maximum",params:{comparison: "<=", limit: 315360000},message:"must be <= 315360000"};
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
if(data24 <= 0 || isNaN(data24)){
const err47 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
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
}
if(typeof data24 === "string"){
if(data24.length < 1){
const err48 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
if(!pattern11.test(data24)){
const err49 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
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
}
if(data24 && typeof data24 == "object" && !Array.isArray(data24)){
for(const key7 in data24){
if(!((key7 === "days") || (key7 === "runs"))){
const err50 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};
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
if(data24.days !== undefined){
let data25 = data24.days;
if((typeof data25 == "number") && (isFinite(data25))){
if(data25 > 3650 || isNaN(data25)){
const err51 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/maximum",keyword:"maximum",params:{comparison: "<=", limit: 3650},message:"must be <= 3650"};
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
if(data25 <= 0 || isNaN(data25)){
const err52 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
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
}
else {
const err53 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/type",keyword:"type",params:{type: "number"},message:"must be number"};
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
if(data24.runs !== undefined){
let data26 = data24.runs;
if(!(((typeof data26 == "number") && (!(data26 % 1) && !isNaN(data26))) && (isFinite(data26)))){
const err54 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
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
if((typeof data26 == "number") && (isFinite(data26))){
if(data26 > 1000000 || isNaN(data26)){
const err55 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
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
if(data26 < 0 || isNaN(data26)){
const err56 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
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
}
}
if(data.timeout !== undefined){
let data27 = data.timeout;
if(((!((typeof data27 == "number") && (isFinite(data27)))) && (typeof data27 !== "string")) && (data27 !== null)){
const err57 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/type",keyword:"type",params:{type: schema31.properties.timeout.type},message:"must be number,string,null"};
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
if((typeof data27 == "number") && (isFinite(data27))){
if(data27 > 315360000 || isNaN(data27)){
const err58 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 315360000},message:"must be <= 315360000"};
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
if(data27 <= 0 || isNaN(data27)){
const err59 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
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
if(typeof data27 === "string"){
if(data27.length < 1){
const err60 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
if(!pattern11.test(data27)){
const err61 = {instancePath:instancePath+"/timeout",schemaPath:"#/properties/timeout/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
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
}
}
if(data.on_success !== undefined){
let data28 = data.on_success;
if((!(Array.isArray(data28))) && (data28 !== null)){
const err62 = {instancePath:instancePath+"/on_success",schemaPath:"#/properties/on_success/type",keyword:"type",params:{type: schema31.properties.on_success.type},message:"must be array,null"};
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
if(Array.isArray(data28)){
if(data28.length < 1){
const err63 = {instancePath:instancePath+"/on_success",schemaPath:"#/properties/on_success/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len1 = data28.length;
for(let i1=0; i1<len1; i1++){
let data29 = data28[i1];
if(!(data29 && typeof data29 == "object" && !Array.isArray(data29))){
const err64 = {instancePath:instancePath+"/on_success/" + i1,schemaPath:"#/properties/on_success/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
}
if(data.on_failure !== undefined){
let data30 = data.on_failure;
if((!(Array.isArray(data30))) && (data30 !== null)){
const err65 = {instancePath:instancePath+"/on_failure",schemaPath:"#/properties/on_failure/type",keyword:"type",params:{type: schema31.properties.on_failure.type},message:"must be array,null"};
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
if(Array.isArray(data30)){
if(data30.length < 1){
const err66 = {instancePath:instancePath+"/on_failure",schemaPath:"#/properties/on_failure/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len2 = data30.length;
for(let i2=0; i2<len2; i2++){
let data31 = data30[i2];
if(!(data31 && typeof data31 == "object" && !Array.isArray(data31))){
const err67 = {instancePath:instancePath+"/on_failure/" + i2,schemaPath:"#/properties/on_failure/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
}
if(data.on_cancel !== undefined){
let data32 = data.on_cancel;
if((!(Array.isArray(data32))) && (data32 !== null)){
const err68 = {instancePath:instancePath+"/on_cancel",schemaPath:"#/properties/on_cancel/type",keyword:"type",params:{type: schema31.properties.on_cancel.type},message:"must be array,null"};
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
if(Array.isArray(data32)){
if(data32.length < 1){
const err69 = {instancePath:instancePath+"/on_cancel",schemaPath:"#/properties/on_cancel/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len3 = data32.length;
for(let i3=0; i3<len3; i3++){
let data33 = data32[i3];
if(!(data33 && typeof data33 == "object" && !Array.isArray(data33))){
const err70 = {instancePath:instancePath+"/on_cancel/" + i3,schemaPath:"#/properties/on_cancel/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
}
}
if(data.finally !== undefined){
let data34 = data.finally;
if((!(Array.isArray(data34))) && (data34 !== null)){
const err71 = {instancePath:instancePath+"/finally",schemaPath:"#/properties/finally/type",keyword:"type",params:{type: schema31.properties.finally.type},message:"must be array,null"};
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
if(Array.isArray(data34)){
if(data34.length < 1){
const err72 = {instancePath:instancePath+"/finally",schemaPath:"#/properties/finally/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len4 = data34.length;
for(let i4=0; i4<len4; i4++){
let data35 = data34[i4];
if(!(data35 && typeof data35 == "object" && !Array.isArray(data35))){
const err73 = {instancePath:instancePath+"/finally/" + i4,schemaPath:"#/properties/finally/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
}
}
if(data.handler_timeout !== undefined){
let data36 = data.handler_timeout;
if(((!((typeof data36 == "number") && (isFinite(data36)))) && (typeof data36 !== "string")) && (data36 !== null)){
const err74 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/type",keyword:"type",params:{type: schema31.properties.handler_timeout.type},message:"must be number,string,null"};
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
if((typeof data36 == "number") && (isFinite(data36))){
if(data36 > 315360000 || isNaN(data36)){
const err75 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/maximum",keyword:"maximum",params:{comparison: "<=", limit: 315360000},message:"must be <= 315360000"};
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
if(data36 <= 0 || isNaN(data36)){
const err76 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
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
if(typeof data36 === "string"){
if(data36.length < 1){
const err77 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
if(!pattern11.test(data36)){
const err78 = {instancePath:instancePath+"/handler_timeout",schemaPath:"#/properties/handler_timeout/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
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
}
}
if(data.sub_pipelines !== undefined){
let data37 = data.sub_pipelines;
if(Array.isArray(data37)){
if(data37.length > 2000){
const err79 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/maxItems",keyword:"maxItems",params:{limit: 2000},message:"must NOT have more than 2000 items"};
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
if(data37.length < 1){
const err80 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len5 = data37.length;
for(let i5=0; i5<len5; i5++){
let data38 = data37[i5];
if(data38 && typeof data38 == "object" && !Array.isArray(data38)){
if(data38.id === undefined){
const err81 = {instancePath:instancePath+"/sub_pipelines/" + i5,schemaPath:"#/properties/sub_pipelines/items/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
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
for(const key8 in data38){
if(!((((((((key8 === "id") || (key8 === "goal")) || (key8 === "reads")) || (key8 === "stores")) || (key8 === "when")) || (key8 === "inputs")) || (key8 === "file")) || (key8 === "pipeline"))){
const err82 = {instancePath:instancePath+"/sub_pipelines/" + i5,schemaPath:"#/properties/sub_pipelines/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};
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
if(data38.id !== undefined){
let data39 = data38.id;
if(typeof data39 === "string"){
if(!pattern14.test(data39)){
const err83 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/id",schemaPath:"#/properties/sub_pipelines/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,127}$"},message:"must match pattern \""+"^[A-Za-z_][A-Za-z0-9_-]{0,127}$"+"\""};
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
}
else {
const err84 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/id",schemaPath:"#/properties/sub_pipelines/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
if(data38.goal !== undefined){
let data40 = data38.goal;
if((typeof data40 !== "string") && (data40 !== null)){
const err85 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/goal",schemaPath:"#/properties/sub_pipelines/items/properties/goal/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.goal.type},message:"must be string,null"};
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
if(typeof data40 === "string"){
if(data40.length > 10000){
const err86 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/goal",schemaPath:"#/properties/sub_pipelines/items/properties/goal/maxLength",keyword:"maxLength",params:{limit: 10000},message:"must NOT have more than 10000 characters"};
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
}
}
if(data38.reads !== undefined){
let data41 = data38.reads;
if((!(Array.isArray(data41))) && (data41 !== null)){
const err87 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/reads",schemaPath:"#/properties/sub_pipelines/items/properties/reads/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.reads.type},message:"must be array,null"};
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
if(Array.isArray(data41)){
const len6 = data41.length;
for(let i6=0; i6<len6; i6++){
let data42 = data41[i6];
if(typeof data42 === "string"){
if(data42.length < 1){
const err88 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/reads/" + i6,schemaPath:"#/properties/sub_pipelines/items/properties/reads/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err89 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/reads/" + i6,schemaPath:"#/properties/sub_pipelines/items/properties/reads/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data38.stores !== undefined){
let data43 = data38.stores;
if((!(Array.isArray(data43))) && (data43 !== null)){
const err90 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/stores",schemaPath:"#/properties/sub_pipelines/items/properties/stores/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.stores.type},message:"must be array,null"};
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
if(Array.isArray(data43)){
const len7 = data43.length;
for(let i7=0; i7<len7; i7++){
let data44 = data43[i7];
if(typeof data44 === "string"){
if(data44.length < 1){
const err91 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/stores/" + i7,schemaPath:"#/properties/sub_pipelines/items/properties/stores/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err92 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/stores/" + i7,schemaPath:"#/properties/sub_pipelines/items/properties/stores/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data38.when !== undefined){
let data45 = data38.when;
if((typeof data45 != "object") && (typeof data45 !== "string")){
const err93 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when",schemaPath:"#/properties/sub_pipelines/items/properties/when/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.when.type},message:"must be string,object,array,null"};
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
if(Array.isArray(data45)){
if(data45.length > 20){
const err94 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when",schemaPath:"#/properties/sub_pipelines/items/properties/when/maxItems",keyword:"maxItems",params:{limit: 20},message:"must NOT have more than 20 items"};
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
if(data45.length < 1){
const err95 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when",schemaPath:"#/properties/sub_pipelines/items/properties/when/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len8 = data45.length;
for(let i8=0; i8<len8; i8++){
let data46 = data45[i8];
if((typeof data46 !== "string") && (!(data46 && typeof data46 == "object" && !Array.isArray(data46)))){
const err96 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when/" + i8,schemaPath:"#/properties/sub_pipelines/items/properties/when/items/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.when.items.type},message:"must be string,object"};
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
if(data46 && typeof data46 == "object" && !Array.isArray(data46)){
if(data46.value === undefined){
const err97 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when/" + i8,schemaPath:"#/properties/sub_pipelines/items/properties/when/items/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
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
if(data46.value !== undefined){
if(typeof data46.value !== "string"){
const err98 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when/" + i8+"/value",schemaPath:"#/properties/sub_pipelines/items/properties/when/items/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data45 && typeof data45 == "object" && !Array.isArray(data45)){
if(data45.value === undefined){
const err99 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when",schemaPath:"#/properties/sub_pipelines/items/properties/when/required",keyword:"required",params:{missingProperty: "value"},message:"must have required property '"+"value"+"'"};
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
if(data45.value !== undefined){
if(typeof data45.value !== "string"){
const err100 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/when/value",schemaPath:"#/properties/sub_pipelines/items/properties/when/properties/value/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
if(data38.inputs !== undefined){
let data49 = data38.inputs;
if((!(Array.isArray(data49))) && (data49 !== null)){
const err101 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/inputs",schemaPath:"#/properties/sub_pipelines/items/properties/inputs/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.inputs.type},message:"must be array,null"};
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
if(Array.isArray(data49)){
const len9 = data49.length;
for(let i9=0; i9<len9; i9++){
let data50 = data49[i9];
if(typeof data50 === "string"){
if(data50.length < 1){
const err102 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/inputs/" + i9,schemaPath:"#/properties/sub_pipelines/items/properties/inputs/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err103 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/inputs/" + i9,schemaPath:"#/properties/sub_pipelines/items/properties/inputs/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data38.file !== undefined){
let data51 = data38.file;
if((typeof data51 !== "string") && (data51 !== null)){
const err104 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/file",schemaPath:"#/properties/sub_pipelines/items/properties/file/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.file.type},message:"must be string,null"};
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
if(typeof data51 === "string"){
if(data51.length < 1){
const err105 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/file",schemaPath:"#/properties/sub_pipelines/items/properties/file/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
}
if(data38.pipeline !== undefined){
let data52 = data38.pipeline;
if((!(data52 && typeof data52 == "object" && !Array.isArray(data52))) && (data52 !== null)){
const err106 = {instancePath:instancePath+"/sub_pipelines/" + i5+"/pipeline",schemaPath:"#/properties/sub_pipelines/items/properties/pipeline/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.pipeline.type},message:"must be object,null"};
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
if(data52 && typeof data52 == "object" && !Array.isArray(data52)){
var props3 = {};
for(const key9 in data52){
if(pattern5.test(key9)){
props3[key9] = true;
}
}
}
}
}
else {
const err107 = {instancePath:instancePath+"/sub_pipelines/" + i5,schemaPath:"#/properties/sub_pipelines/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
}
else {
const err108 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/type",keyword:"type",params:{type: "array"},message:"must be array"};
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
}
}
else {
const err109 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

