// What has been delivered at any moment, of a race and of transports side by side.
import { upTo } from "./key_rows.js";
import { unpacked } from "./packed.js";

// The bytes that one has delivered: a share of all of them at any moment.
export class Delivered {
  constructor({ times, shares }) {
    this.times = floats(times);
    this.shares = floats(shares);
  }

  // The share that has arrived by `time`, microseconds.
  at(time) {
    const arrived = upTo(this.times, 0, this.times.length, time);
    return arrived ? this.shares[arrived - 1] : 0;
  }
}

function floats(text) {
  return new Float32Array(unpacked(text));
}
