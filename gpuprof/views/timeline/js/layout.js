// Where each lane and row stands on the canvas, in CSS pixels.

const OVERVIEW = 30;
const AXIS = 22;
const GAP = 7;
const ROWS_SHOWN = 4;

export function layOut(lanes, expanded, width) {
  const gutter = width >= 620 ? 138 : 104;
  const layout = { width, gutter, overview: { y: 0, height: OVERVIEW }, axis: { y: OVERVIEW, height: AXIS }, lanes: [] };
  let y = OVERVIEW + AXIS + 6;
  lanes.forEach((lane, index) => {
    const place = { lane, index, y, rows: [], hiddenRows: 0 };
    if (lane.type === "curves") {
      y += 50;
    } else {
      const limit = expanded.has(index) ? lane.rows.length : (lane.shown ?? ROWS_SHOWN);
      const height = lane.row_height ?? 18;
      lane.rows.slice(0, limit).forEach((row) => {
        place.rows.push({ row, y, height });
        y += height + 1;
      });
      place.hiddenRows = lane.rows.length - place.rows.length;
    }
    place.height = y - place.y;
    place.foldable = lane.type !== "curves" && lane.rows.length > (lane.shown ?? ROWS_SHOWN);
    layout.lanes.push(place);
    y += GAP;
  });
  layout.height = y + 2;
  layout.top = OVERVIEW + AXIS;
  return layout;
}

export function laneAt(layout, y) {
  return layout.lanes.find((place) => y >= place.y && y < place.y + place.height) || null;
}
