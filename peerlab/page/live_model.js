// What a live page asks and is answered: a model as the lab's widget is one (get, on, off, send), with a worker behind it.
import { unpacked } from "./packed.js";

export class LiveModel {
  constructor({ document, palettes, first, fields, recorded }) {
    this.listeners = new Map();
    this.values = { document, palettes, data: opened(first), curves: {}, ratio: {}, late: {}, measured: {}, status: {} };
    this.fields = this.shown = this.first = fields; // what is wished, what was possible last, what the page began with
    this.number = 1;
    this.waiting = []; // the last wish of each kind while another is answered: a slider runs ahead of its answers
    this.busy = true;
    this.kept = recorded; // the other side of the host switch, the ratio and the curves, where no Python runs
    this.resting = ""; // why none runs
  }

  get(name) {
    return this.values[name];
  }

  set(name, value) {
    this.values[name] = value;
    this.tell(`change:${name}`);
  }

  on(name, act) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), act]);
  }

  off(name, act) {
    this.listeners.set(name, (this.listeners.get(name) ?? []).filter((other) => other !== act));
  }

  tell(name, message) {
    for (const act of this.listeners.get(name) ?? []) act(message);
  }

  start(makeWorker, start) {
    this.say("Loading Python");
    try {
      this.worker = makeWorker();
    } catch (problem) {
      return this.fail(problem.message);
    }
    this.worker.addEventListener("message", ({ data }) => this.hear(data));
    this.worker.addEventListener("error", (problem) => this.fail(problem.message ?? "the browser refuses a worker here"));
    this.worker.postMessage({ start });
  }

  say(text) {
    this.set("status", text ? { busy: true, text } : { busy: false });
    this.tell("note", text);
  }

  fail(why) {
    this.rest(`Python could not be started (${why}).`);
  }

  // No Python runs here: what the page recorded answers.
  rest(why) {
    const sides = this.kept.states.length ? "The host switch shows what is recorded here; else the picture stays as it is." : "The picture stays as it is.";
    this.resting = `${why} ${sides} The notebook has the live lab.`;
    this.sides = [{ fields: this.first, data: this.values.data }, ...this.kept.states.map(({ fields, data }) => ({ fields, data: opened(data) }))];
    this.set("status", { busy: false });
    if (this.shown === this.first) for (const name of ["ratio", "curves"]) this.set(name, this.kept[name]);
    for (const question of this.waiting.splice(0)) this.answerRecorded(question);
    this.tell("note", this.resting);
  }

  answerRecorded({ kind, changes }) {
    if (kind === "log") return this.tell("log", { error: "No Python runs in this tab: the notebook reads logs." });
    const wished = { undo: this.before ?? this.first, reset: this.first, show: changes }[kind];
    const side = wished && this.sides.find(({ fields }) => Object.entries(wished).every(([name, value]) => fields[name] === value));
    if (!side) return this.answered({ error: `This is not recorded. ${this.resting}` });
    this.before = this.shown;
    this.answered({ fields: side.fields, data: { ...side.data, meta: { ...side.data.meta, number: this.number } } });
    this.tell("note", this.resting);
  }

  hear(message) {
    if (message.status) this.say(message.status);
    if (message.failed) this.fail(message.failed);
    if (message.ready) {
      this.busy = false;
      this.say("");
      performance.mark("live");
      document.documentElement.dataset.live = "yes";
      if (!this.waiting.length) this.waiting = [{ kind: "show", changes: this.fields, number: this.number }];
      this.ask(this.waiting.shift());
    }
    for (const name of ["ratio", "late", "curves", "measured"]) if (message[name]) this.set(name, message[name]);
    if (message.cluster) this.tell("cluster", message.cluster);
    if (message.log) this.tell("log", message.log);
    if (message.critical) this.tell("msg:custom", { kind: "critical", path: message.critical });
    if (message.done) document.documentElement.dataset.done = this.number;
    if (message.answers) this.answered(message);
  }

  answered(message) {
    this.busy = false;
    if (message.error && message.about === "log") this.tell("log", message);
    else if (message.error) {
      this.fields = this.shown;
      this.tell("fields");
      this.tell("note", message.error);
    }
    if (message.fields) this.shown = message.fields;
    if (message.fields && !this.waiting.some(({ kind }) => kind === "show")) {
      this.fields = message.fields; // a later wish stays as it is
      this.tell("fields");
    }
    if (message.data) this.set("data", message.data);
    if (this.waiting.length) this.ask(this.waiting.shift());
  }

  ask(question) {
    if (this.resting) return void this.answerRecorded(question);
    if (this.busy) return void (this.waiting = [...this.waiting.filter(({ kind }) => kind !== question.kind), question]);
    this.busy = true;
    this.worker.postMessage(question);
  }

  // What Python decides: undo and reset are its own, and what has to change with a change.
  change(changes, control = "other") {
    this.fields = { ...this.fields, ...changes };
    this.go({ kind: "show", changes: this.fields, control });
  }

  go(question) {
    this.tell("note", "");
    delete document.documentElement.dataset.done;
    this.ask({ ...question, number: ++this.number });
  }

  send({ command, value }) {
    if (command === "undo" || command === "reset") this.go({ kind: command });
    if (command === "critical") this.ask({ kind: "critical" });
    if (command === "axis") this.ask({ kind: "axis", axis: value });
    if (command === "host" || command === "cache") this.tell("flip", command);
  }
}

// Columns that the page was built with.
function opened(value) {
  if (value === null || typeof value !== "object") return value;
  if ("base64" in value) return new DataView(unpacked(value.base64));
  if (Array.isArray(value)) return value.map(opened);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, opened(part)]));
}
