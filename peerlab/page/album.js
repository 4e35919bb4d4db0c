// The model of a page without a kernel: every state that its controls can reach, as peerlab/features/export/pack.py packed them.

// What was packed: a document in which equal parts are kept once, and the columns of all rows.
export class Pack {
  static async open(text) {
    // deflate-raw, as Python's zlib writes it without a header; browsers inflate it in the background
    const letters = atob(text), packed = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Pack(await new Response(stream).arrayBuffer());
  }

  constructor(buffer) {
    const length = new DataView(buffer).getUint32(0, true); // of the JSON; the columns lie behind it, end to end
    this.buffer = buffer;
    this.begin = 4 + length;
    this.document = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    this.parts = [];
    this.units = [];
  }

  // A value with everything that stands in it for a part or a column put in its place.
  whole(value) {
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) return (this.parts[value.$] ??= this.whole(this.document.pool[value.$]));
    if ("#" in value) return this.column(value["#"]);
    if (Array.isArray(value)) return value.map((one) => this.whole(one));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.whole(one)]));
  }

  // A column in its unit; without one it holds whole numbers.
  column(number) {
    const unit = this.document.columns[number][3], counts = this.counts(number);
    return unit ? counts.map((count) => count * unit) : Int32Array.from(counts);
  }

  // A column in units of its rounding.
  counts(number) {
    return (this.units[number] ??= this.unfold(...this.document.columns[number]));
  }

  // Undoes the differences. A count is kept as its difference from the one before, or from the same row of column `since`
  // (a row's end from its begin), so that most fit into one byte. Zigzag: an even number is 0 or more, an odd one negative.
  unfold(place, count, width, unit, since) {
    const bytes = new Uint8Array(this.buffer, this.begin + place, count * width), counts = new Float64Array(count);
    const base = since < 0 ? null : this.counts(since);
    for (let i = 0, last = 0; i < count; i++) {
      let folded = 0;
      for (let at = (width - 1) * count + i; at >= 0; at -= count) folded = folded * 256 + bytes[at]; // the highest byte comes last
      const difference = folded % 2 ? -(folded + 1) / 2 : folded / 2;
      last = counts[i] = difference + (base ? base[i] : last);
    }
    return counts;
  }
}

// Which state is shown, what was before, and who wants to know; as a widget's model is in the lab.
export class Album {
  constructor(pack, side = 0) {
    this.pack = pack;
    this.side = side;
    this.choices = pack.document.choices;
    this.listeners = new Map();
    this.history = [];
    this.number = 0;
    this.axis = "nodes";
    this.values = { document: pack.document.figures, palettes: pack.document.palettes, status: {} };
    this.numbers = pack.document.start;
    this.together = [this]; // albums that show one state, side by side
    this.turn();
  }

  get(name) {
    if (name === "curves") return this.pack.whole(this.pack.document.curves[this.axis][this.values.data.meta.mark.of[this.axis]]) ?? {}; // a page that shows none has none
    return this.values[name];
  }

  on(name, act) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), act]);
  }

  off(name, act) {
    this.listeners.set(name, (this.listeners.get(name) ?? []).filter((one) => one !== act));
  }

  tell(name, message) {
    for (const act of this.listeners.get(name) ?? []) act(message);
  }

  send({ command, value }) {
    if (command === "axis") {
      this.axis = value;
      this.tell("change:curves");
    }
    if (command === "critical") {
      const { breakdown, arrays } = this.state(this.side).critical;
      this.tell("msg:custom", { kind: "critical", path: { breakdown, ...arrays } });
    }
    if (command === "undo") for (const one of this.together) one.back();
    if (command === "host") this.flip("path");
    if (command === "cache" && !this.rests("registration")) this.flip("registration");
  }

  flip(field) {
    const at = this.choices.findIndex((one) => one.field === field && one.kind === "switch");
    const numbers = at >= 0 ? this.numbers.with(at, 1 - this.numbers[at]) : this.numbers;
    for (const one of this.together) one.go(numbers);
  }

  back() {
    if (this.history.length) this.go(this.history.pop(), false);
  }

  // Whether a control changes nothing now: memory is registered on one path only.
  rests(field) {
    return field === "registration" && !this.values.data.meta.mark.cached;
  }

  // The value of a control as a link says it.
  word(field) {
    const at = this.choices.findIndex((one) => one.field === field);
    return this.choices[at]?.words[this.numbers[at]];
  }

  // Begins with the state with these numbers; nothing came before it.
  begin(numbers) {
    this.numbers = numbers;
    this.turn();
  }

  // Shows the state with these numbers of the controls' values; the one before stays for comparison.
  go(numbers, remember = true) {
    if (numbers.join() === this.numbers.join()) return;
    if (remember) this.history.push(this.numbers);
    // while a slider is dragged, the state before the drag stays the one to compare with
    if (remember !== "same drag") this.before = this.state(this.side).data;
    this.numbers = numbers;
    this.turn();
    this.tell("change:data");
    this.tell("change:choices");
  }

  turn() {
    const { data, measured, ratio, late } = this.state(this.side), { meta } = data;
    const other = this.pack.document.states.length > 1 ? this.state(1 - this.side).data : null, then = other ? (this.side ? other : null) : this.before;
    const comparable = then && then.meta.key === meta.key;
    this.values.measured = measured;
    this.values.late = late;
    this.values.ratio = other ? {} : ratio; // two scenarios side by side are compared with each other
    this.values.data = {
      ...data,
      before: then?.views.headline.cards,
      then: other ? "against" : "",
      meta: {
        ...meta,
        number: ++this.number,
        before_us: comparable ? then.meta.end_us : null,
        span_us: other ? Math.max(meta.end_us, other.meta.end_us) : null,
        ghost: then?.meta.mark ?? null,
        settings_before: then?.meta.settings ?? null,
      },
    };
  }

  state(side) {
    const { states } = this.pack.document;
    // states lie in the order of the controls, the last one varying fastest
    const index = this.choices.reduce((sum, { words }, i) => sum * words.length + this.numbers[i], 0);
    return this.pack.whole(states[side][index]);
  }
}
