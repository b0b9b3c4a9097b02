//! The style sheet of the page.

use crate::palette::properties;

/// Light, dark where the reader prefers it, and light on paper.
pub fn sheet() -> String {
    let (light, dark) = (properties(false), properties(true));
    format!(
        ":root{{color-scheme:light dark;{light}}}\
         @media (prefers-color-scheme:dark){{:root{{{dark}}}}}\
         {RULES}\
         @media print{{:root{{color-scheme:light;{light}}}{PRINT}}}"
    )
}

const RULES: &str = "\
*{box-sizing:border-box}\
body{margin:0 auto;max-width:68rem;padding:1.5rem 1rem 4rem;background:var(--page);color:var(--ink);\
font:1rem/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif;\
overflow-wrap:anywhere;-webkit-text-size-adjust:100%}\
h1{font-size:1.9rem;line-height:1.2;margin:.2rem 0 .3rem;letter-spacing:-.01em}\
h2{font-size:1.3rem;line-height:1.25;margin:2.8rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--line)}\
h3{font-size:1rem;margin:1.1rem 0 .4rem}\
p{margin:.4rem 0 .8rem;max-width:46rem}\
ul{margin:.3rem 0 .8rem;padding-left:1.2rem;max-width:46rem}\
a{color:var(--after)}\
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--after);outline-offset:2px}\
.skip{position:absolute;left:-999rem}\
.skip:focus{position:static}\
.muted{color:var(--muted)}\
.notice{border-left:4px solid var(--poor);background:var(--surface);padding:.6rem .9rem;margin:1rem 0;max-width:none}\
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:.4rem 2rem;align-items:start}\
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19.5rem),1fr));gap:1.2rem 2rem;align-items:start}\
.card{background:var(--surface);border-radius:.6rem;padding:.9rem 1rem;margin:0;min-width:0}\
.card h3{margin-top:0}\
.verdicts{display:grid;gap:.8rem;margin:1rem 0}\
.verdict{background:var(--surface);border-radius:.6rem;border-left:6px solid var(--tone);padding:.8rem 1rem;margin:0;max-width:none}\
.verdict strong{color:var(--tone)}\
.good{--tone:var(--good)}.fair{--tone:var(--fair)}.poor{--tone:var(--poor)}\
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,12.5rem),1fr));gap:.8rem;margin:1rem 0;padding:0}\
.tiles div{background:var(--surface);border-radius:.6rem;padding:.7rem .9rem}\
.tiles dt{color:var(--muted);font-size:.85rem;line-height:1.3}\
.tiles dd{margin:.15rem 0 0;font-size:1.35rem;font-weight:650;line-height:1.25;font-variant-numeric:tabular-nums}\
.tiles small{display:block;font-size:.8rem;font-weight:400;color:var(--muted)}\
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;max-width:none;font-size:.92rem}\
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:.2rem 0 .8rem;font-size:.9rem}\
.swatch{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em;vertical-align:-.05em}\
.swatch.before{background:var(--before)}.swatch.after{background:var(--after)}.swatch.other{background:var(--other)}\
figure{margin:0;min-width:0}\
figcaption{font-weight:600;font-size:.95rem;margin-bottom:.35rem}\
figcaption span{font-weight:400;color:var(--muted)}\
svg{display:block;width:100%;max-width:27rem;height:auto;overflow:visible}\
svg text{fill:var(--ink);font-size:11px}\
svg .number{fill:var(--muted);font-size:10.5px;font-variant-numeric:tabular-nums}\
svg .end{text-anchor:end}svg .middle{text-anchor:middle}\
svg .before{fill:var(--before)}svg .after{fill:var(--after)}svg .other{fill:var(--other)}\
svg .added{fill:none;stroke:var(--ink)}svg .axis,svg .cell{fill:var(--line)}svg .cell{fill-opacity:.35}\
.scroll{overflow-x:auto;margin:.2rem 0 1rem}figure+.scroll,.sides+.scroll{margin-top:1.2rem}\
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;min-width:min(100%,18rem)}\
caption{text-align:left;font-weight:600;padding-bottom:.3rem}\
th,td{padding:.28rem .9rem .28rem 0;border-bottom:1px solid var(--line);text-align:right;vertical-align:top;overflow-wrap:normal}\
th:first-child,td:first-child,.words td,.words th{text-align:left}\
td{white-space:nowrap}th[scope=row]{min-width:7rem;max-width:16rem;overflow-wrap:anywhere}\
th{font-weight:600}th[scope=row]{font-weight:400}\
thead th{color:var(--muted);font-weight:500}\
details{margin:.4rem 0 .2rem;font-size:.92rem}\
summary{cursor:pointer;color:var(--muted);font-size:.85rem}\
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem;color:var(--muted);font-size:.88rem}\
@media (max-width:26rem){body{padding:1rem .9rem 3rem}h1{font-size:1.55rem}.tiles{grid-template-columns:1fr 1fr}}";

const PRINT: &str = "\
body{max-width:none;padding:0;font-size:10pt}\
@page{margin:16mm 14mm}\
h2{margin-top:1.4rem}h2,h3,figcaption,caption{break-after:avoid}\
nav,.skip,summary{display:none}\
figure,.card,.verdict,.tiles div,tr{break-inside:avoid}\
.grid{grid-template-columns:repeat(2,1fr)}.tiles{grid-template-columns:repeat(4,1fr)}\
.card,.verdict,.tiles div,.notice{background:none;border:1px solid var(--line)}\
.verdict{border-left:6px solid var(--tone)}\
svg{max-width:9cm}.scroll{overflow:visible}\
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}\
details::details-content{content-visibility:visible;height:auto}";
