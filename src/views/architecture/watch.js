"use strict";
// The machine's drawing and its time line, at the moment `now` of virtual time (picoseconds).
const data = JSON.parse(document.getElementById("data").textContent);
const E = data.entities, R = data.records;  // record: kind, message, from, to, bytes, begin, end
const end = Math.max(1, data.end);
const byId = (id) => document.getElementById(id);
const drawing = byId("drawing"), line = byId("line"), slider = byId("scrub");
let now = 0, playing = false, speed = 1, chosen = -1, measure = null, hover = -1;

// ---- what is under way at a time: records by slices of time ----
const kSlices = 2000;
const slices = Array.from({ length: kSlices + 1 }, () => []);
const sliceOf = (t) => Math.min(kSlices, Math.max(0, Math.floor((t / end) * kSlices)));
R.forEach((r, i) => {
  if (r[0] === 1) for (let s = sliceOf(r[5]); s <= sliceOf(r[6]); s++) slices[s].push(i);
});
const underWay = (t) => slices[sliceOf(t)].filter((i) => R[i][5] <= t && t < R[i][6]);

// ---- changes of each entity's load: bytes that are there, or wait to leave ----
const changes = E.map(() => []);
for (const r of R) {
  if (r[0] === 0) changes[r[2]].push([r[5], r[4]]);
  if (r[0] === 1) { changes[r[2]].push([r[5], -r[4]]); changes[r[3]].push([r[6], r[4]]); }
  if (r[0] === 2) changes[r[3]].push([r[5], -r[4]]);
}
const loads = changes.map((list) => {
  list.sort((a, b) => a[0] - b[0]);
  let sum = 0;
  return list.map(([t, d]) => [t, (sum += d)]);
});
function before(list, t) {  // how many begin at t or earlier
  let low = 0, high = list.length;
  while (low < high) { const m = (low + high) >> 1; if (list[m][0] <= t) low = m + 1; else high = m; }
  return low;
}
const loadAt = (e, t) => { const n = before(loads[e], t); return n ? loads[e][n - 1][1] : 0; };
const most = Math.max(1, ...loads.map((list) => list.reduce((m, x) => Math.max(m, x[1]), 0)));
// When each entity sends: intervals that touch are one.
const busy = E.map(() => []);
for (const r of R.filter((r) => r[0] === 1).sort((a, b) => a[5] - b[5])) {
  const last = busy[r[2]].at(-1);
  if (last && r[5] <= last[1]) last[1] = Math.max(last[1], r[6]); else busy[r[2]].push([r[5], r[6]]);
}
const moments = [...new Set(R.flatMap((r) => [r[5], r[6]]))].sort((a, b) => a - b);

// ---- drawing ----
const text = (ps) => ps >= 1e9 ? (ps / 1e9).toFixed(4) + " ms" : ps >= 1e6 ? (ps / 1e6).toFixed(3) + " us" : (ps / 1e3).toFixed(3) + " ns";
const size = (b) => b >= 1e6 ? (b / 1e6).toFixed(1) + " MB" : b >= 1e3 ? (b / 1e3).toFixed(1) + " kB" : b + " B";
const colour = (m) => `hsl(${(m * 67) % 360} 70% 45%)`;
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let place = [], background = null, box = 14, rows = [], rowHeight = 14;
const kLeft = 150;

function fit(canvas) {
  const ratio = window.devicePixelRatio || 1, r = canvas.getBoundingClientRect();
  canvas.width = Math.max(1, Math.round(r.width * ratio));
  canvas.height = Math.max(1, Math.round(r.height * ratio));
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [c, r.width, r.height];
}
let dc, dw, dh, lc, lw, lh;
function layOut() {
  [dc, dw, dh] = fit(drawing);
  const perRow = E.length;
  rowHeight = Math.max(3, Math.min(18, 260 / Math.max(1, perRow)));
  line.style.height = Math.max(60, Math.min(340, rowHeight * perRow + 24)) + "px";
  [lc, lw, lh] = fit(line);
  rowHeight = Math.max(0.2, (lh - 24) / Math.max(1, perRow));
  const margin = 30;
  place = E.map((e) => [margin + e[2] * (dw - 2 * margin), margin + e[3] * (dh - 2 * margin)]);
  box = Math.max(3, Math.min(26, 0.34 * Math.sqrt(((dw - 60) * (dh - 60)) / Math.max(1, E.length))));
  still = null;
  background = document.createElement("canvas");
  background.width = drawing.width; background.height = drawing.height;
  const b = background.getContext("2d");
  b.setTransform(dc.getTransform());
  b.strokeStyle = css("--rule"); b.lineWidth = 1;
  b.beginPath();
  for (const [f, t] of data.links) { b.moveTo(...place[f]); b.lineTo(...place[t]); }
  b.stroke();
}

function drawMachine() {
  dc.clearRect(0, 0, dw, dh);
  dc.save(); dc.setTransform(1, 0, 0, 1, 0, 0); dc.drawImage(background, 0, 0); dc.restore();
  const moving = underWay(now), sending = new Set(), receiving = new Set();
  for (const i of moving) {
    const r = R[i], [x0, y0] = place[r[2]], [x1, y1] = place[r[3]];
    sending.add(r[2]); receiving.add(r[3]);
    dc.strokeStyle = colour(r[1]); dc.lineWidth = 2;
    dc.beginPath(); dc.moveTo(x0, y0); dc.lineTo(x1, y1); dc.stroke();
    const f = (now - r[5]) / Math.max(1, r[6] - r[5]);
    dc.fillStyle = colour(r[1]);
    dc.beginPath(); dc.arc(x0 + f * (x1 - x0), y0 + f * (y1 - y0), Math.max(3, box / 4), 0, 7); dc.fill();
  }
  const idle = css("--idle"), send = css("--send"), recv = css("--recv"), wait = css("--wait"), ink = css("--ink");
  dc.textAlign = "center"; dc.font = `${Math.max(8, Math.min(12, box / 2))}px sans-serif`;
  const names = E.length <= 80;
  E.forEach((e, i) => {
    const [x, y] = place[i], load = loadAt(i, now);
    dc.fillStyle = sending.has(i) ? send : load > 0 ? wait : receiving.has(i) ? recv : idle;
    if (e[1] === "processor") dc.fillRect(x - box / 2, y - box / 2, box, box);
    else { dc.beginPath(); dc.arc(x, y, box / 2, 0, 7); dc.fill(); }
    if (i === chosen || i === hover) { dc.strokeStyle = ink; dc.lineWidth = 2; dc.strokeRect(x - box / 2 - 2, y - box / 2 - 2, box + 4, box + 4); }
    if (load > 0 && (names || i === chosen || i === hover)) { dc.fillStyle = ink; dc.fillText(size(load), x, y - box / 2 - 4); }
    if (names) { dc.fillStyle = ink; dc.fillText(e[0], x, y + box / 2 + 11); }
  });
  return moving.length;
}

// What does not change while time goes on is drawn once for each entity that is chosen.
let still = null;
function drawStill() {
  const canvas = document.createElement("canvas");
  canvas.width = line.width; canvas.height = line.height;
  const c = canvas.getContext("2d"), x = (t) => kLeft + (t / end) * (lw - kLeft - 10);
  c.setTransform(lc.getTransform());
  c.font = "10px sans-serif"; c.textAlign = "right";
  const ink = css("--ink"), idle = css("--idle"), send = css("--send");
  E.forEach((e, i) => {
    const y = 2 + i * rowHeight;
    if (rowHeight >= 9) { c.fillStyle = ink; c.fillText(e[0].slice(-24), kLeft - 6, y + rowHeight - 3); }
    if (i === chosen) { c.fillStyle = idle; c.fillRect(kLeft, y, lw - kLeft - 10, rowHeight); }
    c.fillStyle = send;
    for (const [b, t] of busy[i]) c.fillRect(x(b), y, Math.max(0.5, x(t) - x(b)), Math.max(0.3, rowHeight - 1));
  });
  c.fillStyle = ink; c.textAlign = "left"; c.fillText("0", kLeft, lh - 6);
  c.textAlign = "right"; c.fillText(text(end), lw - 10, lh - 6);
  still = { canvas, chosen };
}

function drawLine() {
  if (still === null || still.chosen !== chosen) drawStill();
  lc.clearRect(0, 0, lw, lh);
  lc.save(); lc.setTransform(1, 0, 0, 1, 0, 0); lc.drawImage(still.canvas, 0, 0); lc.restore();
  const x = (t) => kLeft + (t / end) * (lw - kLeft - 10);
  lc.font = "10px sans-serif";
  lc.fillStyle = css("--wait"); lc.fillRect(x(now) - 1, 0, 2, lh - 18);
  if (measure) {
    lc.fillStyle = css("--ink");
    for (const t of measure) lc.fillRect(x(t), 0, 1, lh - 18);
    lc.textAlign = "center";
    lc.fillText(text(Math.abs(measure[1] - measure[0])), x((measure[0] + measure[1]) / 2), lh - 6);
  }
}

function draw() {
  const moving = drawMachine();
  drawLine();
  slider.value = String(Math.round((now / end) * 100000));
  byId("time").textContent = `${text(now)} of ${text(end)}, ${moving} under way`;
  const at = chosen >= 0 ? chosen : hover;
  byId("about").textContent = at < 0 ? "Choose an entity to see what it does." :
    `${E[at][0]}: ${E[at][1]}, level ${E[at][4]}; ${size(loadAt(at, now))} in it` +
    `; sends ${(100 * busy[at].reduce((s, [b, t]) => s + t - b, 0) / end).toFixed(1)} % of the time`;
  document.documentElement.dataset.moving = String(moving);
  document.documentElement.dataset.now = String(Math.round(now));
  return moving;
}

// ---- controls ----
let last = 0;
function frame(t) {
  if (playing) {
    now += ((t - last) / 20000) * end * speed;
    if (now >= end) { now = end; toggle(false); }
    draw();
  }
  last = t;
  requestAnimationFrame(frame);
}
function toggle(on) { playing = on; byId("play").textContent = on ? "Pause" : "Play"; }
function go(t) { now = Math.min(end, Math.max(0, t)); draw(); }
function step(forth) {
  toggle(false);
  const n = before(moments.map((m) => [m]), now);
  go(forth ? moments[n] ?? end : [...moments.slice(0, n)].filter((m) => m < now).at(-1) ?? 0);
}
byId("play").onclick = () => { if (now >= end) now = 0; toggle(!playing); };
byId("next").onclick = () => step(true);
byId("previous").onclick = () => step(false);
byId("speed").oninput = (e) => { speed = 10 ** Number(e.target.value); };
slider.oninput = () => { toggle(false); go((Number(slider.value) / 100000) * end); };
document.onkeydown = (e) => {
  if (e.target.tagName === "INPUT" && e.key !== " ") return;
  if (e.key === " ") { byId("play").click(); e.preventDefault(); }
  if (e.key === "ArrowRight") step(true);
  if (e.key === "ArrowLeft") step(false);
};
const near = (e) => {
  const r = drawing.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
  return place.findIndex(([a, b]) => Math.hypot(a - x, b - y) < Math.max(8, box));
};
drawing.onmousemove = (e) => { hover = near(e); if (!playing) draw(); };
drawing.onclick = (e) => { chosen = near(e); draw(); };
const timeAt = (e) => {
  const r = line.getBoundingClientRect();
  return Math.min(end, Math.max(0, ((e.clientX - r.left - kLeft) / (lw - kLeft - 10)) * end));
};
line.onmousedown = (e) => { measure = [timeAt(e), timeAt(e)]; };
line.onmousemove = (e) => { if (e.buttons && measure) { measure[1] = timeAt(e); draw(); } };
line.onmouseup = (e) => { if (measure && Math.abs(measure[1] - measure[0]) < end / 500) measure = null; go(timeAt(e)); };
window.onresize = () => { layOut(); draw(); };

layOut();
const started = performance.now();
let frames = 0;
for (; frames < 20; frames++) go((frames / 20) * end);
document.documentElement.dataset.frameMs = ((performance.now() - started) / frames).toFixed(2);
const middle = R.find((r) => r[0] === 1);
go(middle ? (middle[5] + middle[6]) / 2 : 0);
document.documentElement.dataset.entities = String(E.length);
document.documentElement.dataset.records = String(R.length);
requestAnimationFrame((t) => { last = t; frame(t); });
