// Widgets go with their kernel, and the next one does not know them. Their page lives on; so it says that nothing answers.
const GONE = ["restarting", "autorestarting", "terminating", "dead"];

// Acts when the kernel behind a widget goes. JupyterLab, Notebook and Voila tell; elsewhere nobody is asked.
export function whenGone(model, act, signal) {
  const kernel = model.widget_manager?.kernel;
  if (!kernel?.statusChanged || signal.aborted) return;
  const hear = (_, status) => GONE.includes(status) && act();
  kernel.statusChanged.connect(hear);
  kernel.disposed.connect(act); // another kernel was chosen, or none
  signal.addEventListener("abort", () => {
    kernel.statusChanged.disconnect(hear);
    kernel.disposed.disconnect(act);
  });
}

// A widget restored from a saved notebook has no kernel to answer; so no view ever waits for another one's request.
export async function loadBokeh(model, signal) {
  if (window.Bokeh) return;
  await new Promise((resolve, reject) => {
    const take = (message, buffers) => {
      if (message.kind !== "bokeh") return;
      model.off("msg:custom", take);
      if (!window.Bokeh) {
        const script = document.createElement("script");
        script.textContent = new TextDecoder().decode(buffers[0]);
        document.head.appendChild(script);
      }
      resolve();
    };
    model.on("msg:custom", take);
    signal?.addEventListener("abort", () => reject(new Error("closed")));
    model.send({ kind: "need-bokeh" });
  });
}
