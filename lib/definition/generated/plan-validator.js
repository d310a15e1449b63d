// Generated from lib/definition/schema/plan-schema.ts by "npm run generate".
"use strict";
export const validate = validate20;
export default validate20;
const schema31 = {"type":"object","required":["id","sub_pipelines"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$","description":"Names the plan."},"goal":{"type":["string","null"],"maxLength":10000,"description":"Purpose of the plan."},"description":{"type":["string","null"],"description":"Longer description for readers."},"version":{"type":["string","null"],"description":"Free text; quote it, or YAML reads a number."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Default values, passed to the sub-pipelines that list them."},"plan_concurrency":{"type":["integer","null"],"minimum":1,"default":1,"description":"How many independent sub-pipelines may run together."},"schedule":{"type":["string","array","null"],"items":{"type":"string","maxLength":200},"minItems":1,"maxItems":10,"maxLength":200,"description":"When a server that has the file in its folder starts it: the five fields of cron, as in \"0 6 * * 1-5\", or @daily and the like; or a list of them."},"timezone":{"type":["string","null"],"maxLength":100,"default":"UTC","description":"Time zone of the schedule, as in Europe/Berlin."},"overlap":{"enum":["skip","queue","allow",null],"default":"skip","description":"What happens when a time of the schedule comes while its last run is at work."},"catch_up":{"type":["boolean","null"],"default":false,"description":"Whether one run makes up for missed times of the schedule."},"paused":{"type":["boolean","null"],"default":false,"description":"Whether the schedule rests: its times start nothing, and none of them is missed."},"webhook":{"type":["object","null"],"required":["secret"],"properties":{"secret":{"type":"string","description":"Name of the secret that a request must prove to know."},"params":{"type":["object","null"],"patternProperties":{"^.*$":{"type":"string"}},"description":"Params, each with the JSON Pointer of its value in the body. Default: fields of the body that are params. Not in a plan."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{"type":"string"}},"description":"Inputs, each with the JSON Pointer of its value in the body; \"\" is the whole body."},"replay":{"enum":["allow","refuse",null],"default":"allow","description":"Whether a signature of the body alone may come again, with another id of the delivery: \"refuse\" responds with the first run."}},"additionalProperties":false,"description":"Lets a request from elsewhere start it."},"keep":{"type":["number","string","object","null"],"exclusiveMinimum":0,"maximum":315360000,"minLength":1,"pattern":"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$","properties":{"days":{"type":"number","exclusiveMinimum":0,"maximum":3650,"description":"Days for which a settled run is kept."},"runs":{"type":"integer","minimum":0,"maximum":1000000,"description":"How many settled runs are kept, the newest."}},"additionalProperties":false,"description":"How long a server with a store keeps settled runs, in seconds or as in 7d, instead of SERVICE_RUN_TTL; or {days, runs}."},"sub_pipelines":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_-]{0,127}$","description":"Unique in the plan."},"goal":{"type":["string","null"],"maxLength":10000,"description":"Purpose of the sub-pipeline."},"reads":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Blackboard keys that it reads. It runs after the sub-pipelines that store them."},"stores":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Blackboard keys that it stores. No other sub-pipeline stores them."},"inputs":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Inputs of the plan that are passed to it."},"file":{"type":["string","null"],"minLength":1,"description":"Its pipeline file, beside or below the plan file. Default: the sibling ID.yaml."},"pipeline":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Its pipeline, instead of a file."}},"additionalProperties":false,"description":"A pipeline within a plan."},"minItems":1,"maxItems":2000,"description":"The pipelines. The keys they read and store determine the order."}},"additionalProperties":false,"description":"A plan: pipelines that pass values through the blackboard."};
const func1 = Object.prototype.hasOwnProperty;
const pattern4 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", "u");
const pattern5 = new RegExp("^.*$", "u");
const pattern8 = new RegExp("^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$", "u");
const pattern9 = new RegExp("^[A-Za-z_][A-Za-z0-9_-]{0,127}$", "u");

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
if(data.schedule !== undefined){
let data6 = data.schedule;
if(((typeof data6 !== "string") && (!(Array.isArray(data6)))) && (data6 !== null)){
const err12 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/type",keyword:"type",params:{type: schema31.properties.schedule.type},message:"must be string,array,null"};
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
if(typeof data6 === "string"){
if(data6.length > 200){
const err13 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};
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
if(Array.isArray(data6)){
if(data6.length > 10){
const err14 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/maxItems",keyword:"maxItems",params:{limit: 10},message:"must NOT have more than 10 items"};
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
if(data6.length < 1){
const err15 = {instancePath:instancePath+"/schedule",schemaPath:"#/properties/schedule/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
let data7 = data6[i0];
if(typeof data7 === "string"){
if(data7.length > 200){
const err16 = {instancePath:instancePath+"/schedule/" + i0,schemaPath:"#/properties/schedule/items/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};
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
const err17 = {instancePath:instancePath+"/schedule/" + i0,schemaPath:"#/properties/schedule/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data.timezone !== undefined){
let data8 = data.timezone;
if((typeof data8 !== "string") && (data8 !== null)){
const err18 = {instancePath:instancePath+"/timezone",schemaPath:"#/properties/timezone/type",keyword:"type",params:{type: schema31.properties.timezone.type},message:"must be string,null"};
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
if(data8.length > 100){
const err19 = {instancePath:instancePath+"/timezone",schemaPath:"#/properties/timezone/maxLength",keyword:"maxLength",params:{limit: 100},message:"must NOT have more than 100 characters"};
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
}
if(data.overlap !== undefined){
let data9 = data.overlap;
if(!((((data9 === "skip") || (data9 === "queue")) || (data9 === "allow")) || (data9 === null))){
const err20 = {instancePath:instancePath+"/overlap",schemaPath:"#/properties/overlap/enum",keyword:"enum",params:{allowedValues: schema31.properties.overlap.enum},message:"must be equal to one of the allowed values"};
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
if(data.catch_up !== undefined){
let data10 = data.catch_up;
if((typeof data10 !== "boolean") && (data10 !== null)){
const err21 = {instancePath:instancePath+"/catch_up",schemaPath:"#/properties/catch_up/type",keyword:"type",params:{type: schema31.properties.catch_up.type},message:"must be boolean,null"};
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
}
if(data.paused !== undefined){
let data11 = data.paused;
if((typeof data11 !== "boolean") && (data11 !== null)){
const err22 = {instancePath:instancePath+"/paused",schemaPath:"#/properties/paused/type",keyword:"type",params:{type: schema31.properties.paused.type},message:"must be boolean,null"};
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
if(data.webhook !== undefined){
let data12 = data.webhook;
if((!(data12 && typeof data12 == "object" && !Array.isArray(data12))) && (data12 !== null)){
const err23 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/type",keyword:"type",params:{type: schema31.properties.webhook.type},message:"must be object,null"};
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
if(data12 && typeof data12 == "object" && !Array.isArray(data12)){
if(data12.secret === undefined){
const err24 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/required",keyword:"required",params:{missingProperty: "secret"},message:"must have required property '"+"secret"+"'"};
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
for(const key2 in data12){
if(!((((key2 === "secret") || (key2 === "params")) || (key2 === "inputs")) || (key2 === "replay"))){
const err25 = {instancePath:instancePath+"/webhook",schemaPath:"#/properties/webhook/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
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
if(data12.secret !== undefined){
if(typeof data12.secret !== "string"){
const err26 = {instancePath:instancePath+"/webhook/secret",schemaPath:"#/properties/webhook/properties/secret/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data12.params !== undefined){
let data14 = data12.params;
if((!(data14 && typeof data14 == "object" && !Array.isArray(data14))) && (data14 !== null)){
const err27 = {instancePath:instancePath+"/webhook/params",schemaPath:"#/properties/webhook/properties/params/type",keyword:"type",params:{type: schema31.properties.webhook.properties.params.type},message:"must be object,null"};
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
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
var props1 = {};
for(const key3 in data14){
if(pattern5.test(key3)){
if(typeof data14[key3] !== "string"){
const err28 = {instancePath:instancePath+"/webhook/params/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/webhook/properties/params/patternProperties/%5E.*%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
props1[key3] = true;
}
}
}
}
if(data12.inputs !== undefined){
let data16 = data12.inputs;
if((!(data16 && typeof data16 == "object" && !Array.isArray(data16))) && (data16 !== null)){
const err29 = {instancePath:instancePath+"/webhook/inputs",schemaPath:"#/properties/webhook/properties/inputs/type",keyword:"type",params:{type: schema31.properties.webhook.properties.inputs.type},message:"must be object,null"};
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
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
var props2 = {};
for(const key4 in data16){
if(pattern5.test(key4)){
if(typeof data16[key4] !== "string"){
const err30 = {instancePath:instancePath+"/webhook/inputs/" + key4.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/webhook/properties/inputs/patternProperties/%5E.*%24/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
props2[key4] = true;
}
}
}
}
if(data12.replay !== undefined){
let data18 = data12.replay;
if(!(((data18 === "allow") || (data18 === "refuse")) || (data18 === null))){
const err31 = {instancePath:instancePath+"/webhook/replay",schemaPath:"#/properties/webhook/properties/replay/enum",keyword:"enum",params:{allowedValues: schema31.properties.webhook.properties.replay.enum},message:"must be equal to one of the allowed values"};
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
}
}
if(data.keep !== undefined){
let data19 = data.keep;
if((((!((typeof data19 == "number") && (isFinite(data19)))) && (typeof data19 !== "string")) && (!(data19 && typeof data19 == "object" && !Array.isArray(data19)))) && (data19 !== null)){
const err32 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/type",keyword:"type",params:{type: schema31.properties.keep.type},message:"must be number,string,object,null"};
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
if((typeof data19 == "number") && (isFinite(data19))){
if(data19 > 315360000 || isNaN(data19)){
const err33 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/maximum",keyword:"maximum",params:{comparison: "<=", limit: 315360000},message:"must be <= 315360000"};
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
if(data19 <= 0 || isNaN(data19)){
const err34 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
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
}
if(typeof data19 === "string"){
if(data19.length < 1){
const err35 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
if(!pattern8.test(data19)){
const err36 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/pattern",keyword:"pattern",params:{pattern: "^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"},message:"must match pattern \""+"^(?:\\d{1,9}(?:\\.\\d{1,9})?d)?(?:\\d{1,9}(?:\\.\\d{1,9})?h)?(?:\\d{1,9}(?:\\.\\d{1,9})?m)?(?:\\d{1,9}(?:\\.\\d{1,9})?s)?(?:\\d{1,9}(?:\\.\\d{1,9})?ms)?$"+"\""};
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
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
for(const key5 in data19){
if(!((key5 === "days") || (key5 === "runs"))){
const err37 = {instancePath:instancePath+"/keep",schemaPath:"#/properties/keep/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};
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
if(data19.days !== undefined){
let data20 = data19.days;
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 > 3650 || isNaN(data20)){
const err38 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/maximum",keyword:"maximum",params:{comparison: "<=", limit: 3650},message:"must be <= 3650"};
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
if(data20 <= 0 || isNaN(data20)){
const err39 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0},message:"must be > 0"};
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
else {
const err40 = {instancePath:instancePath+"/keep/days",schemaPath:"#/properties/keep/properties/days/type",keyword:"type",params:{type: "number"},message:"must be number"};
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
if(data19.runs !== undefined){
let data21 = data19.runs;
if(!(((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21))) && (isFinite(data21)))){
const err41 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
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
if((typeof data21 == "number") && (isFinite(data21))){
if(data21 > 1000000 || isNaN(data21)){
const err42 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
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
if(data21 < 0 || isNaN(data21)){
const err43 = {instancePath:instancePath+"/keep/runs",schemaPath:"#/properties/keep/properties/runs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
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
}
}
if(data.sub_pipelines !== undefined){
let data22 = data.sub_pipelines;
if(Array.isArray(data22)){
if(data22.length > 2000){
const err44 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/maxItems",keyword:"maxItems",params:{limit: 2000},message:"must NOT have more than 2000 items"};
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
if(data22.length < 1){
const err45 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len1 = data22.length;
for(let i1=0; i1<len1; i1++){
let data23 = data22[i1];
if(data23 && typeof data23 == "object" && !Array.isArray(data23)){
if(data23.id === undefined){
const err46 = {instancePath:instancePath+"/sub_pipelines/" + i1,schemaPath:"#/properties/sub_pipelines/items/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
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
for(const key6 in data23){
if(!(((((((key6 === "id") || (key6 === "goal")) || (key6 === "reads")) || (key6 === "stores")) || (key6 === "inputs")) || (key6 === "file")) || (key6 === "pipeline"))){
const err47 = {instancePath:instancePath+"/sub_pipelines/" + i1,schemaPath:"#/properties/sub_pipelines/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};
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
if(data23.id !== undefined){
let data24 = data23.id;
if(typeof data24 === "string"){
if(!pattern9.test(data24)){
const err48 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/id",schemaPath:"#/properties/sub_pipelines/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,127}$"},message:"must match pattern \""+"^[A-Za-z_][A-Za-z0-9_-]{0,127}$"+"\""};
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
}
else {
const err49 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/id",schemaPath:"#/properties/sub_pipelines/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data23.goal !== undefined){
let data25 = data23.goal;
if((typeof data25 !== "string") && (data25 !== null)){
const err50 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/goal",schemaPath:"#/properties/sub_pipelines/items/properties/goal/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.goal.type},message:"must be string,null"};
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
if(typeof data25 === "string"){
if(data25.length > 10000){
const err51 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/goal",schemaPath:"#/properties/sub_pipelines/items/properties/goal/maxLength",keyword:"maxLength",params:{limit: 10000},message:"must NOT have more than 10000 characters"};
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
}
}
if(data23.reads !== undefined){
let data26 = data23.reads;
if((!(Array.isArray(data26))) && (data26 !== null)){
const err52 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/reads",schemaPath:"#/properties/sub_pipelines/items/properties/reads/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.reads.type},message:"must be array,null"};
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
if(Array.isArray(data26)){
const len2 = data26.length;
for(let i2=0; i2<len2; i2++){
let data27 = data26[i2];
if(typeof data27 === "string"){
if(data27.length < 1){
const err53 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/reads/" + i2,schemaPath:"#/properties/sub_pipelines/items/properties/reads/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err54 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/reads/" + i2,schemaPath:"#/properties/sub_pipelines/items/properties/reads/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data23.stores !== undefined){
let data28 = data23.stores;
if((!(Array.isArray(data28))) && (data28 !== null)){
const err55 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/stores",schemaPath:"#/properties/sub_pipelines/items/properties/stores/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.stores.type},message:"must be array,null"};
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
if(Array.isArray(data28)){
const len3 = data28.length;
for(let i3=0; i3<len3; i3++){
let data29 = data28[i3];
if(typeof data29 === "string"){
if(data29.length < 1){
const err56 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/stores/" + i3,schemaPath:"#/properties/sub_pipelines/items/properties/stores/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err57 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/stores/" + i3,schemaPath:"#/properties/sub_pipelines/items/properties/stores/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
if(data23.inputs !== undefined){
let data30 = data23.inputs;
if((!(Array.isArray(data30))) && (data30 !== null)){
const err58 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/inputs",schemaPath:"#/properties/sub_pipelines/items/properties/inputs/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.inputs.type},message:"must be array,null"};
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
if(Array.isArray(data30)){
const len4 = data30.length;
for(let i4=0; i4<len4; i4++){
let data31 = data30[i4];
if(typeof data31 === "string"){
if(data31.length < 1){
const err59 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/inputs/" + i4,schemaPath:"#/properties/sub_pipelines/items/properties/inputs/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err60 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/inputs/" + i4,schemaPath:"#/properties/sub_pipelines/items/properties/inputs/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
}
if(data23.file !== undefined){
let data32 = data23.file;
if((typeof data32 !== "string") && (data32 !== null)){
const err61 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/file",schemaPath:"#/properties/sub_pipelines/items/properties/file/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.file.type},message:"must be string,null"};
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
if(typeof data32 === "string"){
if(data32.length < 1){
const err62 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/file",schemaPath:"#/properties/sub_pipelines/items/properties/file/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
}
if(data23.pipeline !== undefined){
let data33 = data23.pipeline;
if((!(data33 && typeof data33 == "object" && !Array.isArray(data33))) && (data33 !== null)){
const err63 = {instancePath:instancePath+"/sub_pipelines/" + i1+"/pipeline",schemaPath:"#/properties/sub_pipelines/items/properties/pipeline/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.pipeline.type},message:"must be object,null"};
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
if(data33 && typeof data33 == "object" && !Array.isArray(data33)){
var props3 = {};
for(const key7 in data33){
if(pattern5.test(key7)){
props3[key7] = true;
}
}
}
}
}
else {
const err64 = {instancePath:instancePath+"/sub_pipelines/" + i1,schemaPath:"#/properties/sub_pipelines/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
else {
const err65 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/type",keyword:"type",params:{type: "array"},message:"must be array"};
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
}
else {
const err66 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

