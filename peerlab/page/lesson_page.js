// A lab as a page: its exercises and predictions are cards, judged by peerlab's Python in this tab; progress stays in this browser.
import { make } from "./dom.js";
import { openedAsFile } from "./opened_as_file.js";

const KEPT = "peerlab progress";
const LOADING = "Loading Python, once";

class LabProgress {
  constructor() {
    try {
      this.done = JSON.parse(localStorage.getItem(KEPT)) ?? {};
    } catch {
      this.done = {}; // a browser that keeps nothing, or what is no progress
    }
  }

  of(name) {
    return { tries: 0, hints: 0, right: false, ...this.done[name] };
  }

  note(name, what) {
    this.done[name] = { ...this.of(name), ...what };
    this.keep();
    dispatchEvent(new Event("progress"));
  }

  keep() {
    try {
      localStorage.setItem(KEPT, JSON.stringify(this.done));
    } catch {
      // it lasts as long as the page
    }
  }

  // The learner's own number, by which tasks are drawn.
  get seed() {
    this.done.seed ??= 1 + Math.floor(Math.random() * 9999);
    this.keep();
    return this.done.seed;
  }
}

// Python in a worker, started when it is first asked; answers come in the order of questions.
class Judge {
  constructor(start) {
    Object.assign(this, { start, waiting: [] });
  }

  ask(question) {
    const alone = openedAsFile();
    if (alone) return Promise.resolve({ error: alone });
    this.worker ??= this.begin();
    return new Promise((done) => {
      this.waiting.push(done);
      this.ready.then(
        () => this.worker.postMessage(question),
        (problem) => done({ error: `Python could not be started (${problem.message}). The notebook has this exercise.` }),
      );
    });
  }

  begin() {
    const worker = new Worker("live_worker.js", { type: "module" });
    this.ready = new Promise((begun, failed) => {
      worker.addEventListener("error", (problem) => failed(problem));
      worker.addEventListener("message", ({ data }) => {
        if (data.ready) begun();
        if (data.failed) failed(new Error(data.failed));
        if (data.answers) this.waiting.shift()(data);
      });
    });
    worker.postMessage({ start: { base: new URL("./", location).href, ...this.start } });
    return worker;
  }
}

function button(text, act, kind = "") {
  const made = Object.assign(make("button", `pl-button ${kind}`, text), { type: "button" });
  made.addEventListener("click", act);
  return made;
}

class PredictionCard {
  constructor(place, card, number) {
    this.card = card;
    const kicker = make("p", "pl-kicker", "Predict"), question = make("p", "pl-question");
    question.innerHTML = card.question;
    const row = make("div", "pl-row"), group = `predict-${number}`;
    row.setAttribute("role", "radiogroup");
    row.setAttribute("aria-label", question.textContent);
    card.answers.forEach((answer, i) => {
      const label = make("label", "pl-answer", ""), input = Object.assign(make("input", ""), { type: "radio", name: group, value: i });
      input.addEventListener("change", () => this.choose(i));
      label.append(input, answer);
      row.append(label);
    });
    this.reveal = button("Reveal", () => this.show(), "pl-first");
    this.reveal.disabled = true;
    row.append(this.reveal);
    this.told = make("p", "pl-told");
    this.told.setAttribute("role", "status");
    place.append(kicker, question, row, this.told);
  }

  choose(number) {
    this.chosen = number;
    this.reveal.disabled = false;
    if (this.open) this.show();
  }

  show() {
    this.open = true;
    this.told.replaceChildren(make("b", "", this.card.found), ` ${this.card.replies[this.chosen]}`);
  }
}

class ExerciseCard {
  constructor(place, card, number, judge, progress) {
    Object.assign(this, { place, number, judge, progress });
    this.build(card);
  }

  build(card) {
    Object.assign(this, { card, shown: 0 });
    this.place.replaceChildren();
    const kicker = make("p", "pl-kicker", card.place), question = make("p", "pl-question");
    kicker.append(make("span", "", card.seed === null ? card.name : `${card.name}, ${card.own ? `drawn with your number ${card.seed}` : "an example"}`));
    question.innerHTML = card.question;
    this.field = this.answerField(card);
    this.check = button("Check", () => this.answer(), "pl-first");
    this.hint = button("", () => this.giveHint());
    const row = make("div", "pl-row");
    if (card.unit !== null) row.append(this.field, make("span", "pl-unit", card.unit));
    row.append(this.check, this.hint);
    if (card.seed !== null && !card.own) row.append(button("Draw my own task", () => this.draw()));
    this.told = make("div", "pl-told");
    this.told.setAttribute("role", "status");
    this.hints = make("ol", "pl-hints");
    this.place.append(kicker, question, ...(card.unit === null ? [this.field] : []), row, this.told, this.hints);
    this.nameHint();
    this.mark();
    if (!card.notebook) return;
    this.check.hidden = this.field.hidden = true;
    this.say(`${card.notebook}: answer it in the notebook.`);
  }

  answerField({ options, unit, code, name }) {
    if (options) {
      const group = make("div", "pl-options");
      group.setAttribute("role", "radiogroup");
      group.setAttribute("aria-label", `Answers to ${name}`);
      for (const option of options) {
        const label = make("label", ""), input = Object.assign(make("input", ""), { type: "radio", name: `exercise-${this.number}`, value: option });
        label.append(input, make("span", "", option));
        group.append(label);
      }
      return group;
    }
    const field = make(unit === null ? "textarea" : "input", "pl-field");
    field.setAttribute("aria-label", `Your answer to ${name}`);
    if (unit === null) Object.assign(field, { value: code, rows: Math.max(6, code.split("\n").length + 2), spellcheck: false });
    else {
      Object.assign(field, { type: "text", placeholder: "your answer", autocomplete: "off" });
      field.addEventListener("keydown", (event) => event.key === "Enter" && this.answer());
    }
    return field;
  }

  get given() {
    const { options, unit } = this.card;
    if (options) return { answer: this.field.querySelector("input:checked")?.value ?? "" };
    return unit === null ? { code: this.field.value } : { answer: this.field.value };
  }

  async ask(question) {
    this.say(LOADING);
    this.check.disabled = true;
    const reply = await this.judge.ask(question);
    this.check.disabled = false;
    return reply;
  }

  async answer() {
    const given = this.given;
    if (given.answer !== undefined && !given.answer.trim()) return this.say("Give an answer first.");
    const { name, seed } = this.card, { judged, error } = await this.ask({ kind: "judge", name, seed, ...given });
    if (error) return this.say(error);
    this.place.classList.toggle("pl-done", judged.right);
    this.told.className = `pl-told ${judged.right ? "pl-yes" : "pl-no"}`;
    this.told.innerHTML = `<b>${judged.right ? "\u2713 Right." : "Not yet."}</b> ${judged.says}`; // Python escaped what was answered
    this.hint.hidden = judged.right;
    const { tries, right } = this.progress.of(name);
    this.progress.note(name, { tries: tries + 1, right: right || judged.right });
  }

  say(text) {
    this.told.className = "pl-told";
    this.told.textContent = text;
  }

  async draw() {
    const { task, error } = await this.ask({ kind: "task", name: this.card.name, seed: this.progress.seed });
    if (error) return this.say(error);
    this.build({ ...this.card, ...task, own: true });
  }

  giveHint() {
    const { hints, solution, name } = this.card, item = make(this.shown < hints.length ? "li" : "pre", "");
    if (this.shown < hints.length) item.innerHTML = hints[this.shown];
    else item.textContent = solution;
    (this.shown < hints.length ? this.hints : this.place).append(item);
    this.shown += 1;
    this.progress.note(name, { hints: Math.max(this.shown, this.progress.of(name).hints) });
    this.nameHint();
  }

  nameHint() {
    const count = this.card.hints.length;
    this.hint.textContent = this.shown < count ? `Hint ${this.shown + 1} of ${count}` : "Show the solution";
    this.hint.disabled = this.shown > count;
  }

  mark() {
    if (!this.progress.of(this.card.name).right) return;
    this.place.classList.add("pl-done");
    this.say("You have answered this one before.");
  }
}

// The picture of a cell gives way to the live explorer; one at a time, as each starts a Python of its own.
class LiveCell {
  static open = null;

  constructor(figure) {
    this.figure = figure;
    this.link = figure.querySelector("a");
    this.button = figure.querySelector("button");
    this.button.hidden = Boolean(openedAsFile());
    this.button.addEventListener("click", () => (LiveCell.open === this ? this.close() : this.begin()));
  }

  begin() {
    LiveCell.open?.close();
    LiveCell.open = this;
    this.frame = Object.assign(make("iframe", ""), { title: `Live: ${this.figure.querySelector("figcaption span").textContent}`, src: this.link.href });
    this.frame.addEventListener("load", () => this.fit());
    this.figure.prepend(this.frame);
    this.figure.classList.add("pl-live");
    this.button.textContent = "Back to the picture";
  }

  // As high as what it holds, however wide the page is: its box, as its body is as high as the frame.
  fit() {
    const { body } = this.frame.contentDocument, page = body.querySelector(".pl-alone") ?? body;
    this.watch?.disconnect();
    this.watch = new ResizeObserver(() => (this.frame.style.height = `${Math.ceil(page.getBoundingClientRect().height)}px`));
    this.watch.observe(page);
  }

  close() {
    this.watch?.disconnect();
    this.frame.remove();
    this.figure.classList.remove("pl-live");
    this.button.textContent = "Play it here";
    LiveCell.open = null;
  }
}

function showProgress(host, cards, progress) {
  const names = cards.filter(({ kind, seed }) => kind === "exercise" && seed === null).map(({ name }) => name);
  const done = names.filter((name) => progress.of(name).right).length;
  host.textContent = names.length ? `${done} of ${names.length} exercises done` : "";
  for (const waiting of document.querySelectorAll("[data-waits]")) waiting.classList.toggle("pl-open", progress.of(waiting.dataset.waits).tries > 0);
}

function beginLesson() {
  const { cards, start } = JSON.parse(document.getElementById("pl-lab").textContent), progress = new LabProgress(), judge = new Judge(start);
  for (const place of document.querySelectorAll("[data-card]")) {
    const number = Number(place.dataset.card), card = cards[number];
    place.classList.add("pl-lesson");
    if (card.kind === "predict") new PredictionCard(place, card, number);
    else new ExerciseCard(place, card, number, judge, progress);
  }
  for (const figure of document.querySelectorAll("figure.pl-open")) new LiveCell(figure);
  const show = () => showProgress(document.querySelector(".pl-progress"), cards, progress);
  addEventListener("progress", show);
  show();
  document.documentElement.dataset.ready = "yes";
}

beginLesson();
