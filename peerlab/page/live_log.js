// Your log in a live page: pasted or chosen, read by Python in this tab, answered in the place of the pictures.
import { make } from "./dom.js";

const MOST_BYTES = 8 * 2 ** 20; // as Python reads at most
const LINES = 7; // of the field that a log is pasted into

export class LiveLog {
  constructor(controls, place, model, invitation) {
    Object.assign(this, { place, model });
    this.toggle = this.button("Your log", () => this.open(this.place.hidden));
    this.toggle.setAttribute("aria-expanded", "false");
    controls.insertBefore(this.toggle, controls.querySelector(".pl-choices-note"));
    this.build(invitation);
    model.on("log", (found) => this.show(found));
    place.addEventListener("keydown", (event) => event.key === "Escape" && this.open(false));
  }

  build(invitation) {
    this.text = make("textarea", "");
    Object.assign(this.text, { rows: LINES, placeholder: invitation, spellcheck: false });
    this.text.setAttribute("aria-label", "Your log");
    this.file = Object.assign(make("input", ""), { type: "file" });
    const choose = make("label", "pl-live-button", "Choose a file");
    choose.append(this.file);
    this.leads = this.button("", () => this.follow());
    this.away = this.button("Remove the log", () => this.remove());
    this.leads.hidden = this.away.hidden = true;
    const ways = make("div", "pl-live-row"), row = make("div", "pl-live-row");
    ways.append(this.button("\u2190 Back to the pictures", () => this.open(false)), this.away, this.leads);
    row.append(this.button("Is it well?", () => this.read({ name: "your log", text: this.text.value }), true), choose);
    this.said = make("p", "pl-live-said");
    this.said.setAttribute("role", "status");
    this.answer = make("div", "pl-live-answer");
    const privacy = make("p", "pl-live-private", "It is read by the Python in this tab. Nothing of it leaves this machine.");
    this.asking = Object.assign(make("details", "pl-live-asking"), { open: true });
    this.asking.append(make("summary", "", "The log"), this.text, row, privacy);
    this.place.append(ways, this.asking, this.said, this.answer);
    this.file.addEventListener("change", () => this.choose(this.file.files[0]));
  }

  button(text, act, first = false) {
    const button = Object.assign(make("button", `pl-live-button${first ? " pl-first" : ""}`, text), { type: "button" });
    button.addEventListener("click", act);
    return button;
  }

  open(shown) {
    this.place.hidden = !shown;
    document.documentElement.dataset.place = shown ? "log" : "";
    this.toggle.setAttribute("aria-expanded", String(shown));
    (shown ? this.text : this.toggle).focus();
    if (!shown) dispatchEvent(new Event("resize")); // pictures that were hidden have their width again
  }

  take(file) {
    this.open(true);
    this.choose(file);
  }

  async choose(file) {
    if (!file) return;
    this.file.value = "";
    if (file.size > MOST_BYTES) return this.say(`${file.name} is larger than 8 MiB: keep the table and the lines about the transport.`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    let letters = "";
    for (let i = 0; i < bytes.length; i += 32768) letters += String.fromCharCode(...bytes.subarray(i, i + 32768));
    this.text.value = "";
    this.read({ name: file.name, base64: btoa(letters) });
  }

  read(log) {
    if (!log.base64 && !log.text.trim()) return this.say("Nothing to read yet: paste a log above, or choose a file.");
    this.answer.replaceChildren();
    this.leads.hidden = true;
    this.say(`Reading ${log.name}`);
    this.model.ask({ kind: "log", ...log });
  }

  say(text) {
    this.said.textContent = text;
  }

  show({ error, html, changes, leads, says }) {
    this.say(error ?? says);
    this.said.classList.toggle("pl-refused", Boolean(error));
    if (error) return;
    this.asking.open = false; // it was read: the verdict stands first
    this.answer.innerHTML = html; // Python escaped what the log holds; the page's policy lets no script run from here
    this.changes = changes;
    this.leads.textContent = `Show ${leads}`;
    this.leads.hidden = !leads;
    this.away.hidden = false;
  }

  follow() {
    this.model.change(this.changes);
    this.leads.hidden = true;
    this.open(false);
  }

  remove() {
    this.answer.replaceChildren();
    this.text.value = "";
    this.asking.open = true;
    this.say("");
    this.leads.hidden = this.away.hidden = true;
    this.model.ask({ kind: "no log" });
    this.text.focus();
  }
}
