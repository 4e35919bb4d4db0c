// peerlab's Python in a worker. It gets what to start with, then questions; it says when it is ready, and answers.
let tab = null;
let current = 0;

function urlOf(bytes, type) {
  return URL.createObjectURL(new Blob([bytes], { type }));
}

// One page without a server carries all files: what Pyodide would fetch is answered from them.
async function fromFiles(files, lock) {
  self.importScripts = () => {
    throw new TypeError("Pyodide asks so whether this is a plain script, and would refuse it");
  };
  const own = self.fetch, wasm = () => new Response(files["pyodide.asm.wasm"], { headers: { "Content-Type": "application/wasm" } });
  self.fetch = (what, how) => (String(what.url ?? what).endsWith("pyodide.asm.wasm") ? Promise.resolve(wasm()) : own(what, how));
  const loop = await import(urlOf(files["pyodide.asm.mjs"], "text/javascript"));
  const options = { indexURL: "file:/nowhere/", createPyodideModule: loop.default, stdLibURL: urlOf(files["python_stdlib.zip"], "application/zip"), lockFileContents: lock };
  return { library: urlOf(files["pyodide.mjs"], "text/javascript"), options, app: [files["app.zip"]] };
}

async function fromServer(base, lock, more) {
  const archives = ["app.zip", ...more].map(async (name) => {
    const answer = await fetch(`${base}${name}`);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer.arrayBuffer();
  });
  const app = Promise.all(archives);
  return { library: `${base}pyodide.mjs`, options: { indexURL: base, lockFileContents: lock }, app };
}

async function start({ files, base, lock, first, more = [] }) {
  const { library, options, app } = files ? await fromFiles(files, lock) : await fromServer(base, lock, more);
  const { loadPyodide } = await import(library);
  const python = await loadPyodide(options);
  postMessage({ status: "Loading peerlab" });
  for (const archive of await app) python.unpackArchive(archive, "zip", { extractDir: "/lib/app" });
  python.globals.set("first", python.toPy(first));
  tab = python.runPython("import sys; sys.path.insert(0, '/lib/app')\nfrom peerlab.features.site.tab import Tab\nTab(**first)");
  self.heap = () => python._module.HEAPU8.length;
  postMessage({ ready: true });
}

// Python's pair of a text and columns, as the values that it means.
function opened(pair) {
  if (!pair) return null;
  const [text, columns] = [pair.get(0), pair.get(1)], buffers = [];
  for (let i = 0; i < columns.length; i++) {
    const column = columns.get(i), view = column.getBuffer("u8");
    buffers.push(view.data.slice().buffer);
    view.release();
    column.destroy();
  }
  columns.destroy();
  pair.destroy();
  return attached(JSON.parse(text), buffers);
}

function attached(value, buffers) {
  if (value === null || typeof value !== "object") return value;
  if ("buffer" in value) return new DataView(buffers[value.buffer]);
  if (Array.isArray(value)) return value.map((part) => attached(part, buffers));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, attached(part, buffers)]));
}

// What follows the picture, in pieces; a question goes before the next one.
function work(mine) {
  if (mine !== current) return;
  const piece = opened(tab.work());
  if (!piece) return void postMessage({ done: true, heap: self.heap() });
  if (Object.keys(piece).length) postMessage(piece);
  setTimeout(work, 0, mine);
}

addEventListener("message", ({ data }) => {
  if (data.start) return void start(data.start).catch((problem) => postMessage({ failed: String(problem.message).trim().split("\n").at(-1) || "it did not say why" }));
  try {
    postMessage({ ...opened(tab.answer(JSON.stringify(data))), answers: true });
  } catch (problem) {
    postMessage({ answers: true, error: `This should not happen; please report it: ${String(problem.message).trim().split("\n").at(-1)}` });
  }
  setTimeout(work, 150, ++current);
});
