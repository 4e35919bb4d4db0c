// Figures in words.
export function sayTime(us) {
  if (us >= 1e6) return `${digits(us / 1e6)} s`;
  if (us >= 1e3) return `${digits(us / 1e3)} ms`;
  if (us >= 1) return `${digits(us)} µs`;
  return us <= 0 ? "0 s" : `${digits(us * 1e3)} ns`;
}

export function sayBytes(bytes) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (bytes >= size) return `${digits(bytes / size)} ${unit}`;
  return `${bytes} B`;
}

export function digits(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3).replace(/\.?0+$/, "");
}

// How many slices wait, as it is written beside them.
export function sayWaiting(count) {
  return count === 1 ? "1 slice waits" : `${count} slices wait`;
}

export function sayTimes(ratio) {
  return `${ratio >= 0.1 ? ratio.toFixed(2) : ratio.toPrecision(3)}×`;
}

// What a run is compared with, as it stands before a figure: the one setting that was another one, `with the cache`; the cluster, where that was another one, too; else `before`.
export function baseline({ settings, settings_before: before }) {
  const others = Object.keys(settings).filter((name) => before && name in before && before[name] !== settings[name]);
  const named = others.filter((name) => name !== "rest" || !others.includes("cluster")); // another machine has other defaults
  if (named.includes("cluster")) return before.cluster;
  return named.length === 1 && named[0] !== "rest" ? before[named[0]] : "before";
}
