// JupyterLab shows the end of a notebook when all its cells are run. Here the first explorer is shown instead, once all have
// run, unless the reader has moved meanwhile: a page that jumps away from somebody who reads is worse.
const MOVES = ["wheel", "pointerdown", "touchstart", "keydown"];
const LOOK_MS = 250; // from one look at the prompts to the next

// Shows `root` when the cells of its notebook have run; does nothing where it is not the first, or no later cell runs.
export async function showAfterRun(root, signal) {
  const notebook = root.closest(".jp-Notebook"), cell = root.closest(".jp-Cell");
  if (!notebook || notebook.querySelector(".pl-root") !== root || !running(notebook).some((one) => below(one, cell))) return;
  const over = new AbortController(), stop = () => over.abort();
  signal.addEventListener("abort", stop, { signal: over.signal });
  for (const kind of MOVES) addEventListener(kind, stop, { capture: true, passive: true, signal: over.signal });
  while (running(notebook).length && !over.signal.aborted) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  if (over.signal.aborted) return;
  stop();
  (root.closest(".pl-explorer") ?? root).scrollIntoView({ block: "start" });
}

// The cells that run or wait for their turn: their prompt is a star.
function running(notebook) {
  return [...notebook.querySelectorAll(".jp-CodeCell")].filter((cell) => cell.querySelector(".jp-InputPrompt")?.textContent.includes("*"));
}

function below(one, other) {
  return Boolean(other.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING);
}
