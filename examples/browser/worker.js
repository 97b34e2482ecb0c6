// Loads Python, NumPy and tinytorch and runs train.py. What cannot be loaded is named to the page, and ends it.
const say = (kind, content) => postMessage({ kind, ...content });
const stage = (name, state, text) => say("stage", { name, state, text });
const seconds = (start) => `${((performance.now() - start) / 1000).toFixed(1)} s`;

class Missing extends Error {}

async function fetched(address, what) {
  const answer = await fetch(address).catch(() => null);
  if (!answer || !answer.ok) throw new Missing(what);
  return answer;
}

async function python(place) {
  const what = `There is no Pyodide at ${place}. Name the folder that has pyodide.mjs: npm's package "pyodide" is one.`;
  await fetched(place + "pyodide.mjs", what);
  const { loadPyodide } = await import(place + "pyodide.mjs");
  return loadPyodide({ indexURL: place });
}

async function numpy(pyodide, place, named) {
  let wheel = named;
  if (!wheel) {
    const lock = await (await fetched(place + "pyodide-lock.json", `${place}pyodide-lock.json is missing.`)).json();
    wheel = place + lock.packages.numpy.file_name;
  }
  await fetched(wheel, `NumPy's wheel is missing: ${wheel}. npm's package "pyodide" has none; a full release of ` +
    "Pyodide has it. Put it beside pyodide.mjs, or name its address above.");
  await pyodide.loadPackage(wheel, { messageCallback() {}, errorCallback() {} });
  return pyodide.runPython("import numpy; numpy.__version__");
}

async function tinytorch(pyodide) {
  const zip = await fetched("tinytorch.zip", "tinytorch.zip is missing beside this page: serve.py makes it.");
  const folder = pyodide.runPython("import site; site.getsitepackages()[0]");
  pyodide.unpackArchive(await zip.arrayBuffer(), "zip", { extractDir: folder });
  return pyodide.runPython("import importlib; importlib.invalidate_caches(); import tinytorch; tinytorch.__version__");
}

// MNIST's files into Python's file system; where the server has none, the folder is none, and digits are drawn.
async function digits(pyodide) {
  const answer = await fetch("data/").catch(() => null);
  const names = answer && answer.ok ? (await answer.text()).split("\n").filter((name) => name.includes("-ubyte")) : [];
  if (!names.length) return undefined;     // which is None for Python; null is not
  pyodide.FS.mkdirTree("/data");
  for (const name of names) {
    const file = await fetched(`data/${name}`, `${name} is missing.`);
    pyodide.FS.writeFile(`/data/${name}`, new Uint8Array(await file.arrayBuffer()));
  }
  return "/data";
}

async function run({ pyodide: place, numpy: named, limit, epochs }) {
  let at = "python";
  const timed = async (name, text, work) => {
    at = name;
    stage(name, "busy", "is loading");
    const start = performance.now(), found = await work();
    stage(name, "done", `${text(found)} (${seconds(start)})`);
    return found;
  };
  try {
    const pyodide = await timed("python", (p) => p.runPython("import sys; sys.version.split()[0]"), () => python(place));
    await timed("numpy", (version) => version, () => numpy(pyodide, place, named));
    await timed("tinytorch", (version) => version, () => tinytorch(pyodide));
    at = "data";
    stage("data", "busy", "are loading");
    const folder = await digits(pyodide);
    const source = await (await fetched("train.py", "train.py is missing beside this page.")).text();
    pyodide.FS.writeFile("/home/pyodide/train.py", source);
    const report = (kind, step, value) => {
      if (kind === "data") {
        stage("data", "done", `${step} of ${folder ? "MNIST" : "tinytorch's own drawing"} (${value.toFixed(1)} s)`);
        at = "training";
        stage("training", "busy", "has begun");
      } else say(kind, { step, value });
    };
    const start = performance.now();
    pyodide.pyimport("train").train(report, folder, limit, epochs);
    stage("training", "done", `${epochs} epochs (${seconds(start)})`);
    say("end", { state: "done", text: `The training ended after ${seconds(start)}.` });
  } catch (error) {
    const known = error instanceof Missing;
    stage(at, "missing", known ? "is missing" : "failed");
    say("end", { state: "missing", text: known ? error.message : String(error.message || error) });
  }
}

self.onmessage = ({ data }) => run(data);
