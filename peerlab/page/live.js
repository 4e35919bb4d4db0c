// A page with peerlab's own Python behind it, in a worker of this tab: no kernel, no server.
import { patchOwnBokeh } from "./bokeh_patches.js";
import { make } from "./dom.js";
import { Footer } from "./footer.js";
import { LiveControls } from "./live_controls.js";
import { LiveLog } from "./live_log.js";
import { LiveModel } from "./live_model.js";
import { openedAsFile } from "./opened_as_file.js";
import { PageAlone } from "./page_alone.js";
import { foldSettings } from "./settings_button.js";
import { painted } from "./turns.js";

class LivePage extends PageAlone {
  get kinds() {
    return { ...super.kinds, footer: Footer };
  }

  build() {
    super.build();
    document.querySelector(".pl-shared").append(this.find(".pl-footer"));
  }

  onKey(event) {
    if (!event.target.matches("input, select, textarea, .pl-live-log *")) super.onKey(event);
  }
}

// The files of a page that carries them all: base64 of gzip, in elements that a browser does not read.
async function carriedFiles() {
  const files = {};
  for (const element of document.querySelectorAll('script[type="text/plain"][data-file]')) {
    const packed = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    element.remove();
    files[element.dataset.file] = new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  }
  return Object.keys(files).length ? files : null;
}

// From a file, Chromium starts no module as a worker, but a plain script that imports modules.
function workerOf(text) {
  if (!text) return new Worker("live_worker.js", { type: "module" });
  return new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
}

// A file that somebody drops anywhere on the page.
function followDrops(act) {
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) act(event.dataTransfer.files[0]);
  });
}

function withoutWasm() {
  return typeof WebAssembly === "object" ? "" : "This browser, or a rule of this site, lets no WebAssembly run.";
}

async function begin() {
  const given = JSON.parse(document.getElementById("pl-live").textContent), model = new LiveModel(given);
  const link = location.hash.slice(1); // the controls write their own
  patchOwnBokeh();
  const controls = new LiveControls(document.querySelector(".pl-choices"), model, given.known);
  const log = new LiveLog(document.querySelector(".pl-choices"), document.querySelector(".pl-live-log"), model, given.invitation);
  foldSettings(document.querySelector(".pl-choices"));
  followDrops((file) => (file.name.endsWith(".toml") ? controls.take(file) : log.take(file)));
  const page = new LivePage(model, document.querySelector(".pl-sides").appendChild(make("section", "pl-side")));
  await page.start();
  await page.finished;
  await painted();
  performance.mark("first picture");
  document.documentElement.dataset.ready = "yes";
  controls.follow(link);
  addEventListener("hashchange", () => controls.follow(location.hash.slice(1)));
  const refused = withoutWasm();
  if (refused) return void model.rest(refused);
  const files = await carriedFiles(), alone = files ? "" : openedAsFile();
  if (alone) return void model.rest(alone);
  const text = document.getElementById("pl-worker")?.textContent;
  model.start(() => workerOf(text), { files, base: new URL("./", location).href, lock: given.lock, first: given.fields });
}

begin().catch((problem) => {
  document.querySelector(".pl-sides").textContent = `This page could not be shown: ${problem.message}`;
});
