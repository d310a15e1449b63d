// Generated from lib/definition/schema/plan-schema.ts by "npm run generate".
"use strict";
export const validate = validate20;
export default validate20;
const schema31 = {"type":"object","required":["id","sub_pipelines"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$","description":"Names the plan."},"goal":{"type":["string","null"],"maxLength":10000,"description":"Purpose of the plan."},"description":{"type":["string","null"],"description":"Longer description for readers."},"version":{"type":["string","null"],"description":"Free text; quote it, or YAML reads a number."},"inputs":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Default values, passed to the sub-pipelines that list them."},"plan_concurrency":{"type":["integer","null"],"minimum":1,"default":1,"description":"How many independent sub-pipelines may run together."},"sub_pipelines":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_-]{0,127}$","description":"Unique in the plan."},"goal":{"type":["string","null"],"maxLength":10000,"description":"Purpose of the sub-pipeline."},"reads":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Blackboard keys that it reads. It runs after the sub-pipelines that store them."},"stores":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Blackboard keys that it stores. No other sub-pipeline stores them."},"inputs":{"type":["array","null"],"items":{"type":"string","minLength":1},"description":"Inputs of the plan that are passed to it."},"file":{"type":["string","null"],"minLength":1,"description":"Its pipeline file, beside or below the plan file. Default: the sibling ID.yaml."},"pipeline":{"type":["object","null"],"patternProperties":{"^.*$":{}},"description":"Its pipeline, instead of a file."}},"additionalProperties":false,"description":"A pipeline within a plan."},"minItems":1,"maxItems":2000,"description":"The pipelines. The keys they read and store determine the order."}},"additionalProperties":false,"description":"A plan: pipelines that pass values through the blackboard."};
const pattern4 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", "u");
const pattern5 = new RegExp("^.*$", "u");
const pattern6 = new RegExp("^[A-Za-z_][A-Za-z0-9_-]{0,127}$", "u");

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
if(!(((((((key0 === "id") || (key0 === "goal")) || (key0 === "description")) || (key0 === "version")) || (key0 === "inputs")) || (key0 === "plan_concurrency")) || (key0 === "sub_pipelines"))){
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
if(data.sub_pipelines !== undefined){
let data6 = data.sub_pipelines;
if(Array.isArray(data6)){
if(data6.length > 2000){
const err12 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/maxItems",keyword:"maxItems",params:{limit: 2000},message:"must NOT have more than 2000 items"};
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
if(data6.length < 1){
const err13 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};
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
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
let data7 = data6[i0];
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.id === undefined){
const err14 = {instancePath:instancePath+"/sub_pipelines/" + i0,schemaPath:"#/properties/sub_pipelines/items/required",keyword:"required",params:{missingProperty: "id"},message:"must have required property '"+"id"+"'"};
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
for(const key2 in data7){
if(!(((((((key2 === "id") || (key2 === "goal")) || (key2 === "reads")) || (key2 === "stores")) || (key2 === "inputs")) || (key2 === "file")) || (key2 === "pipeline"))){
const err15 = {instancePath:instancePath+"/sub_pipelines/" + i0,schemaPath:"#/properties/sub_pipelines/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
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
if(data7.id !== undefined){
let data8 = data7.id;
if(typeof data8 === "string"){
if(!pattern6.test(data8)){
const err16 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/id",schemaPath:"#/properties/sub_pipelines/items/properties/id/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_-]{0,127}$"},message:"must match pattern \""+"^[A-Za-z_][A-Za-z0-9_-]{0,127}$"+"\""};
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
const err17 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/id",schemaPath:"#/properties/sub_pipelines/items/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
if(data7.goal !== undefined){
let data9 = data7.goal;
if((typeof data9 !== "string") && (data9 !== null)){
const err18 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/goal",schemaPath:"#/properties/sub_pipelines/items/properties/goal/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.goal.type},message:"must be string,null"};
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
if(typeof data9 === "string"){
if(data9.length > 10000){
const err19 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/goal",schemaPath:"#/properties/sub_pipelines/items/properties/goal/maxLength",keyword:"maxLength",params:{limit: 10000},message:"must NOT have more than 10000 characters"};
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
if(data7.reads !== undefined){
let data10 = data7.reads;
if((!(Array.isArray(data10))) && (data10 !== null)){
const err20 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/reads",schemaPath:"#/properties/sub_pipelines/items/properties/reads/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.reads.type},message:"must be array,null"};
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
if(Array.isArray(data10)){
const len1 = data10.length;
for(let i1=0; i1<len1; i1++){
let data11 = data10[i1];
if(typeof data11 === "string"){
if(data11.length < 1){
const err21 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/reads/" + i1,schemaPath:"#/properties/sub_pipelines/items/properties/reads/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err22 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/reads/" + i1,schemaPath:"#/properties/sub_pipelines/items/properties/reads/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
}
if(data7.stores !== undefined){
let data12 = data7.stores;
if((!(Array.isArray(data12))) && (data12 !== null)){
const err23 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/stores",schemaPath:"#/properties/sub_pipelines/items/properties/stores/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.stores.type},message:"must be array,null"};
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
if(Array.isArray(data12)){
const len2 = data12.length;
for(let i2=0; i2<len2; i2++){
let data13 = data12[i2];
if(typeof data13 === "string"){
if(data13.length < 1){
const err24 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/stores/" + i2,schemaPath:"#/properties/sub_pipelines/items/properties/stores/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err25 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/stores/" + i2,schemaPath:"#/properties/sub_pipelines/items/properties/stores/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
if(data7.inputs !== undefined){
let data14 = data7.inputs;
if((!(Array.isArray(data14))) && (data14 !== null)){
const err26 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/inputs",schemaPath:"#/properties/sub_pipelines/items/properties/inputs/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.inputs.type},message:"must be array,null"};
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
if(Array.isArray(data14)){
const len3 = data14.length;
for(let i3=0; i3<len3; i3++){
let data15 = data14[i3];
if(typeof data15 === "string"){
if(data15.length < 1){
const err27 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/inputs/" + i3,schemaPath:"#/properties/sub_pipelines/items/properties/inputs/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
else {
const err28 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/inputs/" + i3,schemaPath:"#/properties/sub_pipelines/items/properties/inputs/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
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
}
if(data7.file !== undefined){
let data16 = data7.file;
if((typeof data16 !== "string") && (data16 !== null)){
const err29 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/file",schemaPath:"#/properties/sub_pipelines/items/properties/file/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.file.type},message:"must be string,null"};
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
if(typeof data16 === "string"){
if(data16.length < 1){
const err30 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/file",schemaPath:"#/properties/sub_pipelines/items/properties/file/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
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
if(data7.pipeline !== undefined){
let data17 = data7.pipeline;
if((!(data17 && typeof data17 == "object" && !Array.isArray(data17))) && (data17 !== null)){
const err31 = {instancePath:instancePath+"/sub_pipelines/" + i0+"/pipeline",schemaPath:"#/properties/sub_pipelines/items/properties/pipeline/type",keyword:"type",params:{type: schema31.properties.sub_pipelines.items.properties.pipeline.type},message:"must be object,null"};
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
if(data17 && typeof data17 == "object" && !Array.isArray(data17)){
var props1 = {};
for(const key3 in data17){
if(pattern5.test(key3)){
props1[key3] = true;
}
}
}
}
}
else {
const err32 = {instancePath:instancePath+"/sub_pipelines/" + i0,schemaPath:"#/properties/sub_pipelines/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
}
else {
const err33 = {instancePath:instancePath+"/sub_pipelines",schemaPath:"#/properties/sub_pipelines/type",keyword:"type",params:{type: "array"},message:"must be array"};
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
}
else {
const err34 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
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
validate20.errors = vErrors;
return errors === 0;
}
validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

