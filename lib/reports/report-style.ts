import { GRAPH_STYLE } from '../pipelines/drawing/graph-svg.js';
import { GANTT_STYLE } from './gantt-svg.js';

/** The colours of the inspector. */
const LIGHT =
  '--back:#f6f7f9;--panel:#fff;--raised:#f1f3f6;--line:#e1e5eb;--line-strong:#c9d0da;--text:#1b2330;--soft:#566173;--accent:#1d5fd6;--failed:#b42318;--failed-back:#fdecea;--active:#1d5fd6;--active-back:#e8f0fe;--done:#14703c;--done-back:#e6f5ec;--stopped:#6a5a86;--wait:#d5dbe4';
const DARK =
  '--back:#0e1116;--panel:#151a21;--raised:#1c232c;--line:#262e39;--line-strong:#3a4554;--text:#e3e8ef;--soft:#9aa6b6;--accent:#7aacff;--failed:#ff8f85;--failed-back:#3a1c1b;--active:#7aacff;--active-back:#17263f;--done:#6ecf96;--done-back:#15301f;--stopped:#b9a6dc;--wait:#333d4b';

/** The style sheet of a report: for light and dark screens, narrow ones, and paper. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;${LIGHT};
--mono:ui-monospace,"SF Mono","Cascadia Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
@media screen and (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:14px/1.5 var(--sans)}
main,header,footer{max-width:1180px;margin:0 auto;padding:0 20px}
header{padding-top:32px;padding-bottom:4px}
h1,h2,h3,p,dl,dd,ol{margin:0;padding:0;font:inherit}
h1{font:650 26px/1.2 var(--sans);overflow-wrap:anywhere;display:flex;flex-wrap:wrap;gap:12px;align-items:center}
h2{font:650 16px/1.3 var(--sans);margin:0 0 12px}
h3{font:600 13px/1.4 var(--mono);display:inline;overflow-wrap:anywhere}
code{font:12px var(--mono)}
h2 code{font-size:15px}
.goal{margin-top:6px;font-size:15px;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.kicker{color:var(--soft);font-size:12px;margin-bottom:4px}
.badge{font:600 12px/1 var(--sans);padding:6px 10px;border-radius:99px;background:var(--raised);color:var(--soft)}
.badge.failed,.badge.interrupted{background:var(--failed-back);color:var(--failed)}
.badge.succeeded{background:var(--done-back);color:var(--done)}
.badge.running{background:var(--active-back);color:var(--active)}
.badge.cancelled{color:var(--stopped)}
dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(262px,1fr));gap:12px 16px;margin:20px 0 8px}
dl.facts dt{color:var(--soft);font-size:12px}
dl.facts dd{overflow-wrap:anywhere}
section{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:18px 20px;margin:16px 0}
section.cause{border-color:var(--failed)}
section.cause pre{max-height:300px}
section.cause h2{color:var(--failed)}
.error{background:var(--failed-back);border-radius:6px;padding:10px 12px;margin:8px 0}
.error .message{white-space:pre-wrap;overflow-wrap:anywhere;font-family:var(--mono);font-size:12.5px}
.error .kind{font-weight:600;color:var(--failed)}
.causes{list-style:none;padding:4px 0 0 14px}
.scroll{overflow-x:auto}
details{margin:6px 0}
summary{cursor:pointer;border-radius:4px;padding:2px 0}
summary:focus-visible,[tabindex]:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
a{color:var(--accent)}
pre{margin:6px 0 8px;padding:10px 12px;background:var(--raised);border-radius:6px;font:12px/1.5 var(--mono);max-height:420px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:2}
details.call{border-top:1px solid var(--line);margin:0;padding:7px 0}
details.call>summary{display:grid;grid-template-columns:minmax(0,4fr) minmax(0,4fr) minmax(0,3fr);gap:4px 14px;align-items:baseline}
details.call>summary>span{overflow-wrap:anywhere}
details.call>summary .name::before{content:"▸";display:inline-block;width:16px;color:var(--soft)}
details.call[open]>summary .name::before{content:"▾"}
details.call>div{padding:4px 0 6px 16px}
.state::before{content:"";display:inline-block;width:8px;height:8px;border-radius:50%;background:currentColor;margin-right:8px}
.state.failed{color:var(--failed)}.state.done{color:var(--done)}.state.active{color:var(--active)}.state.waiting{color:var(--soft)}.state.stopped{color:var(--stopped)}
table{border-collapse:collapse;width:100%;font-size:13px}
th{text-align:left;font-weight:600;color:var(--soft);font-size:12px}
th,td{padding:4px 14px 4px 0;vertical-align:top;border-top:1px solid var(--line);overflow-wrap:anywhere}
thead th{border-top:0;overflow-wrap:normal;white-space:nowrap}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
td time,dd time{font-variant-numeric:tabular-nums}
.events td,.events th{font:12px var(--mono)}
.events td:first-child,.events td:nth-child(2){white-space:nowrap;overflow-wrap:normal}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin-bottom:10px;font-size:12px;color:var(--soft)}
.legend svg{vertical-align:-1px;margin-right:6px}
footer{padding-top:8px;padding-bottom:32px;font-size:12px;color:var(--soft)}
@media (max-width:640px){main,header,footer{padding-left:12px;padding-right:12px}section{padding:14px 12px}details.call>summary{grid-template-columns:1fr}details.call>summary>span+span{padding-left:16px}.scroll table{min-width:600px}h1{font-size:22px}dl.facts{grid-template-columns:1fr 1fr;gap:6px 12px;font-size:12px}dl.facts>div:first-child{grid-column:1/-1}header{padding-top:16px}}
@media print{body{background:#fff;font-size:11px}section{border:0;padding:0;break-inside:auto}details.call,tr{break-inside:avoid}pre{max-height:none}.scroll{overflow:visible}.scroll svg{max-width:100%;height:auto}}
${GANTT_STYLE}${GRAPH_STYLE}
`;
