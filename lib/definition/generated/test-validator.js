// Generated from lib/definition/schema/test-schema.ts by "npm run generate".
"use strict";
export const validate = validate20;
export default validate20;
const schema31 = {"type":"object","required":["cases"],"properties":{"description":{"type":["string","null"],"description":"Free text for readers."},"cases":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":1,"maxLength":200,"description":"What the case shows; unique in the file."},"params":{"type":["object","null"],"description":"Values of the params of the pipeline."},"inputs":{"type":["object","null"],"description":"Inputs that override those of the definition."},"session":{"type":["object","null"],"description":"Values that templates read as {{session.KEY}} before any task runs."},"answers":{"type":["object","null"],"additionalProperties":{"type":["object","array"],"properties":{"output":{"description":"The output of the task, or of the item."},"error":{"type":"string","description":"The attempt fails with this message."},"items":{"type":"array","maxItems":10000,"items":{"type":["object","array"],"properties":{"output":{"description":"The output of the task, or of the item."},"error":{"type":"string","description":"The attempt fails with this message."}},"additionalProperties":false,"minItems":1,"maxItems":100,"items":{"type":"object","properties":{"output":{"description":"The output of the task, or of the item."},"error":{"type":"string","description":"The attempt fails with this message."}},"additionalProperties":false}},"description":"The answers to the items of a fan-out, in their order."}},"additionalProperties":false,"minItems":1,"maxItems":100,"items":{"type":"object","properties":{"output":{"description":"The output of the task, or of the item."},"error":{"type":"string","description":"The attempt fails with this message."}},"additionalProperties":false}},"description":"What the tools answer, by task: {output: VALUE}, {error: TEXT}, a list of these for the attempts in their order, or {items: [...]} for a fan-out. In a plan: SUB_PIPELINE/TASK."},"expect":{"type":["object","null"],"properties":{"status":{"enum":["succeeded","failed",null],"description":"How the run ends. Default: succeeded; with \"error\": failed."},"error":{"type":["string","object","null"],"description":"The error of the run: equal, or valid by keywords, as in {pattern: full}."},"outputs":{"type":["object","null"],"description":"Outputs by task, each equal, or, when it is a map of nothing but keywords of JSON Schema, such as {minimum: 1}, valid by them. In a plan: SUB_PIPELINE/TASK."},"calls":{"type":["object","null"],"additionalProperties":{"type":["array","integer"],"minimum":0,"maxItems":1000,"items":{"type":"object"}},"description":"The calls of tools by task: how many, or a list with the inputs of each, by item and attempt; each input equal, or, when it is a map of nothing but keywords of JSON Schema, such as {minimum: 1}, valid by them. Inputs that are not listed are not compared. Names as in \"answers\"."},"handlers":{"type":["object","null"],"description":"Outputs of handlers by id, each equal, or, when it is a map of nothing but keywords of JSON Schema, such as {minimum: 1}, valid by them."},"blackboard":{"type":["object","null"],"description":"Values on the blackboard at the end by key, each equal, or, when it is a map of nothing but keywords of JSON Schema, such as {minimum: 1}, valid by them."},"skipped":{"type":["array","null"],"items":{"type":"string"},"description":"All tasks, or sub-pipelines, that are skipped, in any order."},"failed":{"type":["array","null"],"items":{"type":"string"},"description":"All tasks that fail, in any order; items of a fan-out as TASK[INDEX]."},"waves":{"type":["integer","null"],"minimum":0,"description":"The number of waves that were executed."}},"additionalProperties":false,"description":"What has to come out."}},"additionalProperties":false,"description":"A run, and what has to come out."},"minItems":1,"maxItems":1000,"description":"The cases, each a run of its own."}},"additionalProperties":false,"description":"Tests of the pipeline or plan beside this file."};
const func1 = Object.prototype.hasOwnProperty;

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
if(data.cases === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "cases"},message:"must have required property '"+"cases"+"'"};
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
for(const key0 in data){
if(!((key0 === "description") || (key0 === "cases"))){
const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
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
}
if(data.description !== undefined){
let data0 = data.description;
if((typeof data0 !== "string") && (data0 !== null)){
const err2 = {instancePath:instancePath+"/description",schemaPath:"#/properties/description/type",keyword:"type",params:{type: schema31.properties.description.type},message:"must be string,null"};
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
if(data.cases !== undefined){
let data1 = data.cases;
if(Array.isArray(data1)){
if(data1.length > 1000){
const err3 = {instancePath:instancePath+"/cases",schemaPath:"#/properties/cases/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
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
if(data1.length < 1){
const err4 = {instancePath:instancePath+"/cases",schemaPath:"#/properties/cases/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
let data2 = data1[i0];
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.name === undefined){
const err5 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};
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
for(const key1 in data2){
if(!((((((key1 === "name") || (key1 === "params")) || (key1 === "inputs")) || (key1 === "session")) || (key1 === "answers")) || (key1 === "expect"))){
const err6 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
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
if(data2.name !== undefined){
let data3 = data2.name;
if(typeof data3 === "string"){
if(data3.length > 200){
const err7 = {instancePath:instancePath+"/cases/" + i0+"/name",schemaPath:"#/properties/cases/items/properties/name/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};
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
if(data3.length < 1){
const err8 = {instancePath:instancePath+"/cases/" + i0+"/name",schemaPath:"#/properties/cases/items/properties/name/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err9 = {instancePath:instancePath+"/cases/" + i0+"/name",schemaPath:"#/properties/cases/items/properties/name/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data2.params !== undefined){
let data4 = data2.params;
if((!(data4 && typeof data4 == "object" && !Array.isArray(data4))) && (data4 !== null)){
const err10 = {instancePath:instancePath+"/cases/" + i0+"/params",schemaPath:"#/properties/cases/items/properties/params/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.params.type},message:"must be object,null"};
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
}
if(data2.inputs !== undefined){
let data5 = data2.inputs;
if((!(data5 && typeof data5 == "object" && !Array.isArray(data5))) && (data5 !== null)){
const err11 = {instancePath:instancePath+"/cases/" + i0+"/inputs",schemaPath:"#/properties/cases/items/properties/inputs/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.inputs.type},message:"must be object,null"};
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
if(data2.session !== undefined){
let data6 = data2.session;
if((!(data6 && typeof data6 == "object" && !Array.isArray(data6))) && (data6 !== null)){
const err12 = {instancePath:instancePath+"/cases/" + i0+"/session",schemaPath:"#/properties/cases/items/properties/session/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.session.type},message:"must be object,null"};
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
if(data2.answers !== undefined){
let data7 = data2.answers;
if((!(data7 && typeof data7 == "object" && !Array.isArray(data7))) && (data7 !== null)){
const err13 = {instancePath:instancePath+"/cases/" + i0+"/answers",schemaPath:"#/properties/cases/items/properties/answers/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.answers.type},message:"must be object,null"};
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
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
for(const key2 in data7){
let data8 = data7[key2];
if(!data8 || typeof data8 != "object"){
const err14 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.answers.additionalProperties.type},message:"must be object,array"};
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
if(Array.isArray(data8)){
if(data8.length > 100){
const err15 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
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
if(data8.length < 1){
const err16 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len1 = data8.length;
for(let i1=0; i1<len1; i1++){
let data9 = data8[i1];
if(data9 && typeof data9 == "object" && !Array.isArray(data9)){
for(const key3 in data9){
if(!((key3 === "output") || (key3 === "error"))){
const err17 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i1,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"};
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
if(data9.error !== undefined){
if(typeof data9.error !== "string"){
const err18 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i1+"/error",schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/items/properties/error/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
else {
const err19 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i1,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
for(const key4 in data8){
if(!(((key4 === "output") || (key4 === "error")) || (key4 === "items"))){
const err20 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};
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
if(data8.error !== undefined){
if(typeof data8.error !== "string"){
const err21 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/error",schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/error/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data8.items !== undefined){
let data12 = data8.items;
if(Array.isArray(data12)){
if(data12.length > 10000){
const err22 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items",schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/maxItems",keyword:"maxItems",params:{limit: 10000},message:"must NOT have more than 10000 items"};
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
const len2 = data12.length;
for(let i2=0; i2<len2; i2++){
let data13 = data12[i2];
if(!data13 || typeof data13 != "object"){
const err23 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.answers.additionalProperties.properties.items.items.type},message:"must be object,array"};
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
if(Array.isArray(data13)){
if(data13.length > 100){
const err24 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/maxItems",keyword:"maxItems",params:{limit: 100},message:"must NOT have more than 100 items"};
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
if(data13.length < 1){
const err25 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len3 = data13.length;
for(let i3=0; i3<len3; i3++){
let data14 = data13[i3];
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
for(const key5 in data14){
if(!((key5 === "output") || (key5 === "error"))){
const err26 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2+"/" + i3,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};
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
if(data14.error !== undefined){
if(typeof data14.error !== "string"){
const err27 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2+"/" + i3+"/error",schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/items/properties/error/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
else {
const err28 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2+"/" + i3,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
if(data13 && typeof data13 == "object" && !Array.isArray(data13)){
for(const key6 in data13){
if(!((key6 === "output") || (key6 === "error"))){
const err29 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2,schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};
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
if(data13.error !== undefined){
if(typeof data13.error !== "string"){
const err30 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items/" + i2+"/error",schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/items/properties/error/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
else {
const err31 = {instancePath:instancePath+"/cases/" + i0+"/answers/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/items",schemaPath:"#/properties/cases/items/properties/answers/additionalProperties/properties/items/type",keyword:"type",params:{type: "array"},message:"must be array"};
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
}
}
if(data2.expect !== undefined){
let data17 = data2.expect;
if((!(data17 && typeof data17 == "object" && !Array.isArray(data17))) && (data17 !== null)){
const err32 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.type},message:"must be object,null"};
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
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
for(const key7 in data17){
if(!(func1.call(schema31.properties.cases.items.properties.expect.properties, key7))){
const err33 = {instancePath:instancePath+"/cases/" + i0+"/expect",schemaPath:"#/properties/cases/items/properties/expect/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};
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
}
if(data17.status !== undefined){
let data18 = data17.status;
if(!(((data18 === "succeeded") || (data18 === "failed")) || (data18 === null))){
const err34 = {instancePath:instancePath+"/cases/" + i0+"/expect/status",schemaPath:"#/properties/cases/items/properties/expect/properties/status/enum",keyword:"enum",params:{allowedValues: schema31.properties.cases.items.properties.expect.properties.status.enum},message:"must be equal to one of the allowed values"};
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
if(data17.error !== undefined){
let data19 = data17.error;
if(((typeof data19 !== "string") && (!(data19 && typeof data19 == "object" && !Array.isArray(data19)))) && (data19 !== null)){
const err35 = {instancePath:instancePath+"/cases/" + i0+"/expect/error",schemaPath:"#/properties/cases/items/properties/expect/properties/error/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.error.type},message:"must be string,object,null"};
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
if(data17.outputs !== undefined){
let data20 = data17.outputs;
if((!(data20 && typeof data20 == "object" && !Array.isArray(data20))) && (data20 !== null)){
const err36 = {instancePath:instancePath+"/cases/" + i0+"/expect/outputs",schemaPath:"#/properties/cases/items/properties/expect/properties/outputs/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.outputs.type},message:"must be object,null"};
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
if(data17.calls !== undefined){
let data21 = data17.calls;
if((!(data21 && typeof data21 == "object" && !Array.isArray(data21))) && (data21 !== null)){
const err37 = {instancePath:instancePath+"/cases/" + i0+"/expect/calls",schemaPath:"#/properties/cases/items/properties/expect/properties/calls/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.calls.type},message:"must be object,null"};
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
if(data21 && typeof data21 == "object" && !Array.isArray(data21)){
for(const key8 in data21){
let data22 = data21[key8];
if((!(Array.isArray(data22))) && (!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22))))){
const err38 = {instancePath:instancePath+"/cases/" + i0+"/expect/calls/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/expect/properties/calls/additionalProperties/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.calls.additionalProperties.type},message:"must be array,integer"};
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
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 < 0 || isNaN(data22)){
const err39 = {instancePath:instancePath+"/cases/" + i0+"/expect/calls/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/expect/properties/calls/additionalProperties/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
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
if(Array.isArray(data22)){
if(data22.length > 1000){
const err40 = {instancePath:instancePath+"/cases/" + i0+"/expect/calls/" + key8.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/cases/items/properties/expect/properties/calls/additionalProperties/maxItems",keyword:"maxItems",params:{limit: 1000},message:"must NOT have more than 1000 items"};
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
const len4 = data22.length;
for(let i4=0; i4<len4; i4++){
let data23 = data22[i4];
if(!(data23 && typeof data23 == "object" && !Array.isArray(data23))){
const err41 = {instancePath:instancePath+"/cases/" + i0+"/expect/calls/" + key8.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i4,schemaPath:"#/properties/cases/items/properties/expect/properties/calls/additionalProperties/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
}
}
}
if(data17.handlers !== undefined){
let data24 = data17.handlers;
if((!(data24 && typeof data24 == "object" && !Array.isArray(data24))) && (data24 !== null)){
const err42 = {instancePath:instancePath+"/cases/" + i0+"/expect/handlers",schemaPath:"#/properties/cases/items/properties/expect/properties/handlers/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.handlers.type},message:"must be object,null"};
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
}
if(data17.blackboard !== undefined){
let data25 = data17.blackboard;
if((!(data25 && typeof data25 == "object" && !Array.isArray(data25))) && (data25 !== null)){
const err43 = {instancePath:instancePath+"/cases/" + i0+"/expect/blackboard",schemaPath:"#/properties/cases/items/properties/expect/properties/blackboard/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.blackboard.type},message:"must be object,null"};
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
if(data17.skipped !== undefined){
let data26 = data17.skipped;
if((!(Array.isArray(data26))) && (data26 !== null)){
const err44 = {instancePath:instancePath+"/cases/" + i0+"/expect/skipped",schemaPath:"#/properties/cases/items/properties/expect/properties/skipped/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.skipped.type},message:"must be array,null"};
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
if(Array.isArray(data26)){
const len5 = data26.length;
for(let i5=0; i5<len5; i5++){
if(typeof data26[i5] !== "string"){
const err45 = {instancePath:instancePath+"/cases/" + i0+"/expect/skipped/" + i5,schemaPath:"#/properties/cases/items/properties/expect/properties/skipped/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
if(data17.failed !== undefined){
let data28 = data17.failed;
if((!(Array.isArray(data28))) && (data28 !== null)){
const err46 = {instancePath:instancePath+"/cases/" + i0+"/expect/failed",schemaPath:"#/properties/cases/items/properties/expect/properties/failed/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.failed.type},message:"must be array,null"};
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
if(Array.isArray(data28)){
const len6 = data28.length;
for(let i6=0; i6<len6; i6++){
if(typeof data28[i6] !== "string"){
const err47 = {instancePath:instancePath+"/cases/" + i0+"/expect/failed/" + i6,schemaPath:"#/properties/cases/items/properties/expect/properties/failed/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
if(data17.waves !== undefined){
let data30 = data17.waves;
if((!(((typeof data30 == "number") && (!(data30 % 1) && !isNaN(data30))) && (isFinite(data30)))) && (data30 !== null)){
const err48 = {instancePath:instancePath+"/cases/" + i0+"/expect/waves",schemaPath:"#/properties/cases/items/properties/expect/properties/waves/type",keyword:"type",params:{type: schema31.properties.cases.items.properties.expect.properties.waves.type},message:"must be integer,null"};
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
if((typeof data30 == "number") && (isFinite(data30))){
if(data30 < 0 || isNaN(data30)){
const err49 = {instancePath:instancePath+"/cases/" + i0+"/expect/waves",schemaPath:"#/properties/cases/items/properties/expect/properties/waves/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
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
}
}
}
}
else {
const err50 = {instancePath:instancePath+"/cases/" + i0,schemaPath:"#/properties/cases/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
else {
const err51 = {instancePath:instancePath+"/cases",schemaPath:"#/properties/cases/type",keyword:"type",params:{type: "array"},message:"must be array"};
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
else {
const err52 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

