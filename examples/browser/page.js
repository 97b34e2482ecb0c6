// Starts the worker that trains, says how far it is, and draws the loss.
const byId = (id) => document.getElementById(id);
const chart = byId("chart");
const WIDTH = 640, HEIGHT = 300, LEFT = 44, RIGHT = 12, TOP = 12, BOTTOM = 34;
const STAGES = { python: "python", numpy: "numpy-stage", tinytorch: "tinytorch", data: "data", training: "training" };
let worker = null, points = [], accuracies = [], waiting = false;

function stage(name, state, text) {
  const item = byId(STAGES[name]);
  item.dataset.state = state;
  item.querySelector("span").textContent = text;
}

function element(name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  made.textContent = text;
  return made;
}

function draw() {
  waiting = false;
  const steps = Math.max(10, ...points.map(([step]) => step));
  const most = Math.max(2.5, ...points.map(([, loss]) => loss));
  const x = (step) => LEFT + (WIDTH - LEFT - RIGHT) * step / steps;
  const y = (loss) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * loss / most;
  const parts = [];
  for (let loss = 0; loss <= most; loss += most > 5 ? 2 : 0.5) {
    parts.push(element("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(loss), y2: y(loss) }));
    parts.push(element("text", { x: LEFT - 6, y: y(loss) + 4, "text-anchor": "end" }, loss.toFixed(1)));
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const step = Math.round(steps * share);
    parts.push(element("text", { x: x(step), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, step));
  }
  parts.push(element("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, "loss over steps"));
  parts.push(element("polyline", { points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") }));
  chart.replaceChildren(...parts);
}

function drawSoon() {                          // once a frame, however many losses there are
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(draw);
  }
}

function heard({ data }) {
  if (data.kind === "stage") stage(data.name, data.state, data.text);
  if (data.kind === "loss") {
    points.push([data.step, data.value]);
    byId("said").textContent = `step ${data.step}: loss ${data.value.toFixed(3)}`;
    drawSoon();
  }
  if (data.kind === "accuracy") {
    accuracies.push(data.value);
    stage("training", "busy", accuracies.map((a, i) => `epoch ${i + 1}: ${(100 * a).toFixed(1)} % right`).join(", "));
  }
  if (data.kind === "end") {
    byId("start").disabled = false;
    byId("said").textContent = data.text;
    document.body.dataset.ended = data.state;
  }
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (worker) worker.terminate();
  points = [];
  accuracies = [];
  delete document.body.dataset.ended;
  for (const name in STAGES) stage(name, "", "");
  draw();
  byId("start").disabled = true;
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = heard;
  worker.onerror = (event) => heard({ data: { kind: "end", state: "missing", text: `The worker stopped: ${event.message}` } });
  const place = (id) => byId(id).value.trim() && new URL(byId(id).value.trim(), location.href).href;
  worker.postMessage({ pyodide: place("pyodide").replace(/\/?$/, "/"), numpy: place("numpy"),
                       limit: +byId("limit").value, epochs: +byId("epochs").value });
});

const asked = new URLSearchParams(location.search);
for (const id of ["pyodide", "numpy", "limit", "epochs"]) if (asked.has(id)) byId(id).value = asked.get(id);
draw();
if (asked.has("start")) byId("form").requestSubmit();
