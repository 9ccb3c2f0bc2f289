/**
 * How the page looks. One column of rows whose plots share their left and right edges; colour belongs to failures and phases;
 * everything else is ink, grey and space. Light and dark follow the reader's system; below 640 pixels labels stand above plots.
 */

export const STYLE_SHEET: string = `
:root{--bg:#fdfdfb;--ink:#17191e;--mute:#626a76;--line:#e4e4de;--faint:#f3f3ee;--bad:#b84a00;--good:#00775a;--warn:#8a6200;--hatch:rgb(0 0 0/.22);
--serving:#8fd0bd;--lame:#f0cf73;--drain:#86bce2;--tear:#c9b3dc;--start:#d9dbd6;--down:#9aa1ab;--listed:#17191e;
--s0:#7fb3d5;--s1:#f0c987;--s2:#8fd0bd;--s3:#d9a9c5;--s4:#b8bec8;--s5:#e8a886;--gutter:188px}
@media(prefers-color-scheme:dark){:root{--bg:#0f1216;--ink:#eceef2;--mute:#98a1ae;--line:#262b33;--faint:#171b21;--bad:#ff8f4d;--good:#45cfa3;--warn:#e8b93c;--hatch:rgb(0 0 0/.38);
--serving:#2f7f6b;--lame:#a5801f;--drain:#2f6f9f;--tear:#75608c;--start:#454b54;--down:#5b6470;--listed:#eceef2;
--s0:#37719c;--s1:#a8782a;--s2:#2f7f6b;--s3:#8d5478;--s4:#5b6470;--s5:#9c5a34}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums;font-feature-settings:"tnum"}
main{max-width:1180px;margin:0 auto;padding:28px 32px 64px}
h1,h2,h3,h4,p,ul,dl,dd{margin:0;padding:0}
a{color:inherit;text-decoration:none}a:hover{text-decoration:underline}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
small{font-size:12px;color:var(--mute);font-weight:400}
b{font-weight:650}
header{display:flex;justify-content:space-between;gap:8px 24px;flex-wrap:wrap;padding-bottom:14px;border-bottom:1px solid var(--line);font-size:13px}
.brand{font-weight:700;letter-spacing:-.01em}.brand span{font-weight:400;color:var(--mute);margin-left:8px}
.facts{color:var(--mute);display:flex;flex-wrap:wrap;gap:0 14px}
section{padding-top:52px}.live section{will-change:transform}
h2{font-size:20px;line-height:1.3;font-weight:650;letter-spacing:-.012em}
.lead{color:var(--mute);margin:2px 0 14px;max-width:72ch}
.verdict{padding-top:36px}
.headline{display:flex;gap:20px;align-items:flex-start}
.headline>svg{flex:none;width:52px;height:52px;margin-top:3px}
.headline svg *{fill:none;stroke:var(--bg);stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round}
.headline svg .body,.headline svg circle{fill:var(--tone);stroke:none}
.pass{--tone:var(--good)}.fail{--tone:var(--bad)}.invalid{--tone:var(--warn)}
h1{font-size:clamp(30px,5.2vw,50px);line-height:1.08;font-weight:720;letter-spacing:-.028em;text-wrap:balance}
.headline p{margin-top:8px;font-size:17px;color:var(--mute);max-width:64ch}
.headline .note{font-size:14px;color:var(--ink);border-left:3px solid var(--tone);padding-left:10px}
.three{display:grid;grid-template-columns:repeat(3,1fr);gap:40px;margin-top:38px}
.three h2{font-size:12px;font-weight:600;letter-spacing:.02em;color:var(--mute);padding-bottom:8px;border-bottom:1px solid var(--line);margin-bottom:12px}
.counts{list-style:none}.counts li{display:grid;grid-template-columns:minmax(44px,auto) 1fr;gap:12px;padding:4px 0;align-items:baseline}
.counts b{font-size:20px;line-height:1.2;text-align:right}.counts small{display:block;line-height:1.4}
.quiet,.quiet b{color:var(--mute);font-weight:400}
.number code{display:block;color:var(--mute);font-size:13px}.number strong{display:block;font-size:34px;line-height:1.15;font-weight:700;letter-spacing:-.02em}.number s{color:var(--mute);font-weight:400;text-decoration-thickness:1px}.number small{display:block;line-height:1.4}
.advice{list-style:none;margin-top:8px}.advice li{padding:6px 0;border-top:1px solid var(--line);font-size:14px}.advice li:first-child{border:0}
.figures{display:flex;flex-wrap:wrap;gap:18px 0;margin-top:34px;padding:16px 0 14px;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.figures div{flex:1 1 118px;padding-right:18px}.figures dt{font-size:12px;color:var(--mute)}.figures dd{font-size:21px;font-weight:600;letter-spacing:-.012em;line-height:1.3;white-space:nowrap}.figures small{display:block;line-height:1.35}
.head{display:flex;justify-content:space-between;align-items:flex-end;gap:16px;flex-wrap:wrap;margin-bottom:12px}
.tools{display:flex;gap:6px;align-items:center}.tools[hidden]{display:none}
button{font:inherit;font-size:13px;line-height:1;color:var(--ink);background:var(--faint);border:1px solid var(--line);border-radius:5px;padding:7px 10px;min-width:32px;cursor:pointer}
button:hover{border-color:var(--mute)}button:focus-visible,.figure:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid #0084c4;outline-offset:3px;border-radius:3px}
.readout{font-size:13px;color:var(--mute);margin-right:8px;white-space:nowrap}
#time{touch-action:pan-y;cursor:crosshair}.keys{margin:8px 0 0 var(--gutter);font-size:12px;color:var(--mute)}.keys[hidden]{display:none}kbd{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;border:1px solid var(--line);border-radius:3px;padding:1px 4px;color:var(--ink)}.figure{position:relative;outline-offset:6px}
.row{position:relative;display:grid;grid-template-columns:var(--gutter) minmax(0,1fr);align-items:center}
.label{padding-right:14px;font-size:13px;line-height:1.25;text-align:right;min-width:0;overflow-wrap:anywhere}
.label small{display:block}.label small.who{color:var(--ink);white-space:nowrap}
.plot{display:block;width:100%;overflow:hidden}
.zoom{overflow:visible}
.grid{position:absolute;left:var(--gutter);right:0;top:0;width:calc(100% - var(--gutter));height:calc(100% - 18px);pointer-events:none}
.grid line{stroke:var(--line)}.zero{stroke:var(--ink)!important}
.rule{stroke:var(--line)}.tick,.ticks text{font-size:11px;fill:var(--mute)}
.tick{paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
.ticks{overflow:visible}
.strip .label{display:flex;gap:6px;justify-content:flex-end;white-space:nowrap}.strip .label a{overflow:hidden;text-overflow:ellipsis}
.strip .plot{border-bottom:1px solid var(--line)}
.latency{margin:6px 0 12px}.latency .label{align-self:start;padding-top:4px}
.latency .plot{border-bottom:1px solid var(--mute)}
.dots{fill:rgb(104 122 148/.75)}
.badge{vertical-align:-2px;margin-right:5px;overflow:visible}
.lane .label span{font-weight:600}.router{margin-bottom:2px}
.share{margin-top:10px}.who i,.legend i{display:inline-block;width:10px;height:10px;margin-right:5px;vertical-align:-1px;border-radius:2px}
.p-serving{fill:var(--serving);background:var(--serving)}.p-lame-duck{fill:var(--lame);background:repeating-linear-gradient(45deg,var(--hatch) 0 2px,transparent 2px 5px),var(--lame)}.p-draining{fill:var(--drain);background:var(--drain)}.p-teardown{fill:var(--tear);background:var(--tear)}.p-starting{fill:var(--start);background:repeating-linear-gradient(45deg,var(--hatch) 0 2px,transparent 2px 5px),var(--start)}.p-down{fill:var(--down);background:linear-gradient(var(--down),var(--down)) 0 8px/100% 2px no-repeat}
.listed{fill:var(--listed);background:linear-gradient(var(--listed),var(--listed)) 0 5px/100% 2px no-repeat}
.hatch{fill:var(--hatch)}
.m-signal{fill:var(--ink)}.m-not-ready{fill:var(--bg);stroke:var(--ink);stroke-width:1.5}.m-kill{fill:none;stroke:var(--ink);stroke-width:2.4;stroke-linecap:round}.m-reload{fill:var(--bg);stroke:var(--ink);stroke-width:1.4}.busy .m-not-ready,.busy .m-exit{display:none}.m-exit{stroke:var(--ink);stroke-width:1.6}
.logline{stroke:var(--bad);stroke-width:1.2}.out{stroke:var(--ink);stroke-width:1.5}
${[0, 1, 2, 3, 4, 5].map((n) => `.s${n}{fill:var(--s${n});background:var(--s${n})}`).join("")}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:10px 0 0 var(--gutter);font-size:12px;color:var(--mute)}.legend svg{margin-right:3px;vertical-align:-2px;overflow:visible}
.axis .label{padding-top:2px}
.cursor{position:absolute;top:0;bottom:20px;width:1px;background:var(--ink);opacity:.45;pointer-events:none}.cursor[hidden]{display:none}
canvas{position:absolute;left:var(--gutter);right:0;bottom:0;width:calc(100% - var(--gutter));pointer-events:none}
#kinds h2{margin-bottom:6px}
.kind{padding:20px 0 18px;border-top:1px solid var(--line)}#kinds h2+.kind{border-top:0}
.kind h3{font-size:17px;font-weight:650;letter-spacing:-.01em}.kind h3 small{margin-left:4px}
.bar{margin:6px 0 8px;color:var(--mute)}.bar svg{background:var(--faint)}.bar svg{display:block;margin-bottom:4px}.k{fill:var(--bad)}.bar p{font-size:13px}.bar b{font-size:15px;color:var(--ink);margin-right:4px}
.why,.fix{max-width:76ch}.fix{font-weight:600}.where{font-size:13px;color:var(--mute)}
summary{cursor:pointer;font-size:13px;color:var(--mute);margin-top:10px;width:max-content;max-width:100%}
.traces{display:grid;grid-template-columns:repeat(auto-fit,minmax(290px,1fr));gap:26px 34px;margin-top:12px}
.trace{min-width:0}.trace h4{font-size:13px;font-weight:400;line-height:1.4;border-top:1px solid var(--line);padding-top:8px}.trace h4 span{color:var(--bad);white-space:nowrap;margin-left:4px}
.fall{display:flex;align-items:center;gap:6px;margin-top:7px}.fall .badge{margin:0;flex:none}
.fall rect{fill:var(--drain)}.fall .w-due{fill:var(--lame)}.fall .w-connect{fill:var(--tear)}.fall .w-write{fill:var(--s5)}.fall .w-body{fill:var(--serving)}
.steps{font-size:12px;color:var(--mute)}
.trace dl{display:grid;grid-template-columns:auto 1fr;gap:1px 12px;font-size:12.5px;margin-top:7px;line-height:1.45}.trace dt{color:var(--mute)}.trace dd{overflow-wrap:anywhere}
.restart .label{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}.restart .label small{display:inline}.restart .label b{color:var(--bad);margin-left:4px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:14px;margin:10px 0 14px}td,th{padding:5px 22px 5px 0;border-bottom:1px solid var(--line);text-align:left;font-weight:400}th{color:var(--mute);font-size:12px;text-align:right}.n{text-align:right;white-space:nowrap}td code{white-space:nowrap}
.pair{display:grid;grid-template-columns:auto minmax(0,1fr);gap:44px;align-items:center;margin-top:10px}.pair table{margin:0}.pair .figure{--gutter:84px}.compare b{font-size:16px}.better td:last-child,.better b{color:var(--good)}.worse td:last-child,.worse b{color:var(--bad)}.changed td{color:var(--mute)}
.frame{fill:none;stroke:var(--ink);background:none;border:1px solid var(--ink)}.budget{display:block;max-width:720px}#settings .legend{margin-left:0}
footer{margin-top:56px;padding-top:14px;border-top:1px solid var(--line);font-size:12.5px;color:var(--mute);max-width:none}footer p+p{margin-top:4px}
@media(max-width:860px){.pair{grid-template-columns:minmax(0,1fr);gap:20px}.three{grid-template-columns:1fr;gap:28px}}
@media(max-width:640px){:root{--gutter:0px}main{padding:18px 16px 48px}section{padding-top:40px}.verdict{padding-top:24px}.headline{gap:14px}.headline>svg{width:38px;height:38px}.headline p{font-size:15px}
.row{grid-template-columns:minmax(0,1fr)}.label{text-align:left;padding:3px 0 1px}.label small{display:inline;margin-left:6px}.label small.who{margin-left:10px}.dense .label:empty{display:none}.dense .label{padding:0}
.strip .label{padding-top:4px;justify-content:flex-start}.latency .label{padding-top:8px}.axis .label{display:none}td,th{padding-right:12px}.pair .figure{--gutter:0px}.figures div{flex-basis:40%}.legend,.keys{margin-left:0}.tools{width:100%}.readout{flex:1;overflow:hidden;text-overflow:ellipsis}}
@media print{.tools{display:none}details>*{display:block}main{max-width:none}}
@media(prefers-reduced-motion:no-preference){button{transition:border-color .12s}}
`;
