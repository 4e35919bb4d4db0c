// Slices as long as the time for which they have what they pass (`peerlab/picture/trains.py` says the same for a still).
export const PASSED = ["start", "freed", "sent", "left", "received", "landed", "turned", "through"];

// Which parts of its way a slice fills at a moment: a link as long as that has it; on the wire it moves with its latency, its head since
// it is sent, its tail since it has left; from out of sight it comes while the receiver's NIC has it, as it leaves while the sender's has. `stops` are
// the places of the sender's NIC, the receiver's, and the last corner.
export function occupied(time, [start, freed, sent, left, received, landed, turned, through], [out, into, corner]) {
  const found = [];
  const has = (since, until, from, to) => since <= time && time < until && to > from && found.push({ from, to, wire: false });
  if (out === null && into === null) has(start, corner === null ? through : freed, 0, corner ?? 1);
  else if (out !== null) {
    has(start, freed, 0, out);
    if (into === null) has(sent, left, out, 1);
    else if (sent <= time && time < landed) {
      const [tail, head] = [share(time, left, landed), share(time, sent, received)].map((part) => out + (into - out) * part);
      found.push({ from: tail, to: head, wire: true });
    }
  } else has(received, landed, 0, into);
  if (into !== null) has(received, corner === null ? through : landed, into, corner ?? 1);
  if (corner !== null) has(turned, through, corner, 1);
  return found;
}

// Whether a slice waits on its way: 0 in front of the second link, 1 behind the wire, null not at all.
export function phaseOfWait(time, [, freed, sent, , , landed, turned], [out, into, corner]) {
  if (out === null && into === null) return corner !== null && freed <= time && time < turned ? 0 : null;
  if (out && freed <= time && time < sent) return 0;
  return into !== null && corner !== null && landed <= time && time < turned ? 1 : null;
}

function share(time, since, until) {
  return until > since ? Math.min(1, Math.max(0, (time - since) / (until - since))) : Number(time >= until);
}

// Whether what is on this part of a way, that lies in one node, is a sum: it goes on the other side of links than what goes up.
function comesDown([[x]], variant, { left }) {
  return x <= left ? variant === 2 || variant === 3 : variant === 0;
}

// What of a broken line is in sight on both sides of a switch that adds up, each with whether it is a sum: at node 0 its own slice goes up
// and a sum comes down, at node 1 the other slices go up and the sum of its own comes down.
export function besideSwitch(points, variant, { left, right }) {
  const sides = [within(points, left, (x) => x <= left), within(points, right, (x) => x >= right)].filter((line) => line.length > 1);
  return sides.map((line) => ({ points: line, summed: comesDown(line, variant, { left }) }));
}

// The part of a broken line on one side of an edge, which it crosses once at most, going across.
function within(points, edge, inside) {
  const found = [];
  for (let i = 1; i < points.length; i++) {
    const [[x, y], [after, beyond]] = [points[i - 1], points[i]];
    if (!inside(x) && !inside(after)) continue;
    const ends = [inside(x) ? [x, y] : [edge, y], inside(after) ? [after, beyond] : [edge, beyond]];
    found.push(...(found.length ? ends.slice(1) : ends));
  }
  return found;
}
