/** Lazy boundary: draws pipelines. Imported by `graph` alone, because it loads the shapes of the outputs of tasks. */
export { renderSvg } from '../../pipelines/drawing/graph-svg.js';
export { createGraph, renderDot, renderMermaid, renderText } from '../../pipelines/drawing/graph.js';
