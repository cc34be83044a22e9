"""The web page of a drawing, without its picture and its details."""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Graph</title><style>
body { margin: 0; font: 14px Helvetica, Arial, sans-serif; }
#bar { position: fixed; top: 8px; left: 8px; max-width: 32em; background: #fffe; padding: 8px;
  border: 1px solid #ccc; border-radius: 6px; color: #333; }
#details { white-space: pre-wrap; }
svg { display: block; width: 100vw; height: 100vh; cursor: grab; }
.node { cursor: pointer; }
.found path, .found polygon { stroke: #c22; stroke-width: 3; }
</style></head><body>
<div id="bar"><input id="search" type="search" placeholder="search"> <span id="count"></span>
<div id="details">Wheel: zoom. Drag: move. Click: details. Double click: all.</div></div>
{svg}
<script>
"use strict";
const boxes = {details};
const svg = document.querySelector("svg"), view = svg.viewBox.baseVal;
const all = boxes.map((_, i) => document.getElementById("n" + i));
svg.removeAttribute("width"); svg.removeAttribute("height");
const width = view.width, height = view.height;
const scale = () => 1 / svg.getScreenCTM().a;
function look(factor) {  // the graph at its top, so many pixels for a point
  view.width = innerWidth / factor; view.height = innerHeight / factor;
  view.x = (width - view.width) / 2; view.y = Math.min(0, (height - view.height) / 2);
}
const whole = Math.min(innerWidth / width, innerHeight / height);
look(Math.min(Math.max(whole, 0.7), 1.5));  // large enough to read
if (width > view.width && all.length) centre(all[0], 0);
svg.addEventListener("dblclick", () => look(whole));
function show(i) {
  const lines = Object.entries(boxes[i]).map(([name, value]) => name + ": " + value);
  document.getElementById("details").textContent = lines.join("\\n");
}
function centre(element, down = 1) {
  const box = element.getBoundingClientRect(), s = scale();
  view.x += (box.x + box.width / 2 - innerWidth / 2) * s;
  view.y += (box.y + box.height / 2 - innerHeight / 2) * s * down;
}
all.forEach((element, i) => element.addEventListener("click", () => show(i)));
document.getElementById("search").addEventListener("input", event => {
  const text = event.target.value.toLowerCase();
  const found = all.filter((element, i) => {
    const is = text !== "" && Object.values(boxes[i]).join(" ").toLowerCase().includes(text);
    element.classList.toggle("found", is);
    return is;
  });
  document.getElementById("count").textContent = text && found.length + " found";
  const first = found.find(element => boxes[all.indexOf(element)].title.includes(text));
  if (found.length) centre(first || found[0]);
});
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const s = scale(), by = Math.exp(event.deltaY / 500), origin = svg.getScreenCTM().inverse();
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(origin);
  view.x = at.x - (at.x - view.x) * by; view.y = at.y - (at.y - view.y) * by;
  view.width *= by; view.height *= by;
}, { passive: false });
svg.addEventListener("pointermove", event => {
  if (event.buttons !== 1) return;
  const s = scale();
  view.x -= event.movementX * s; view.y -= event.movementY * s;
});
</script></body></html>
"""
