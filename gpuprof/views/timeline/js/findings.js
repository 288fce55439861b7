// Walks through the findings that have a place in the timeline, and through the places of one.

export function withRanges(data) {
  return data.findings.filter((finding) => finding.ranges.length);
}

function show(tl) {
  const all = tl.findings;
  const { label, ranges } = all[tl.finding];
  const places = ranges.length > 1 ? `, place ${tl.place + 1} of ${ranges.length}` : "";
  tl.focus = ranges;
  tl.reveal(...ranges[tl.place]);
  tl.say(`Finding ${tl.finding + 1} of ${all.length}${places}: ${label}`);
}

// The next finding, or the one before; from the last on to the first.
export function nextFinding(tl, direction) {
  const count = tl.findings.length;
  if (!count) return;
  const from = tl.finding < 0 && direction < 0 ? count : tl.finding;
  tl.finding = (from + direction + count) % count;
  tl.place = 0;
  show(tl);
}

// The next place of the finding shown (of the first where none is).
export function nextPlace(tl, direction) {
  if (tl.finding < 0 || tl.finding >= tl.findings.length) return nextFinding(tl, 1);
  const count = tl.findings[tl.finding].ranges.length;
  tl.place = (tl.place + direction + count) % count;
  show(tl);
}

// Tab walks as F does, but leaves at either end: false where the focus is to go on.
export function tabFinding(tl, direction) {
  const next = tl.finding + direction;
  tl.finding = Math.min(Math.max(next, -1), tl.findings.length);
  if (next < 0 || next >= tl.findings.length) return false;
  tl.place = 0;
  show(tl);
  return true;
}

// Where the focus comes from says at which end Tab begins.
export function enterFindings(tl, from) {
  if (!from) return;
  const behind = tl.canvas.compareDocumentPosition(from) & Node.DOCUMENT_POSITION_FOLLOWING;
  tl.finding = behind ? tl.findings.length : -1;
}

export function showRanges(tl, ranges) {
  if (!ranges.length) return;
  const same = ([[t0, t1]]) => t0 === ranges[0][0] && t1 === ranges[0][1];
  tl.finding = tl.findings.findIndex((finding) => finding.ranges.length === ranges.length && same(finding.ranges));
  tl.place = 0;
  if (tl.finding >= 0) {
    show(tl);
  } else {
    tl.focus = ranges;
    tl.reveal(...ranges[0]);
  }
}
