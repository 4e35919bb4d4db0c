// Widgets go with their kernel, and the next one does not know them. Their page lives on; so it says that nothing answers.
const GONE = ["restarting", "autorestarting", "terminating", "dead"];

// Acts when the kernel behind a widget goes. JupyterLab, Notebook and Voila tell; elsewhere nobody is asked.
function whenGone(model, act, signal) {
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
