// The tokens and the time of the model calls of a session, as a picture made of SVG and as a table with the same numbers.

import { element, emptyNote, svgElement, table } from "./dom.js";
import { shownCount, shownDuration, shownLine } from "./shown_text.js";

const WIDTH = 720;
const HEIGHT = 180;
const LEFT = 56;
const BOTTOM = 24;
const SHOWN_CALLS = 60;
const WIDEST_SLOT = 48;

/** Returns the bars of a chart: for each call the parts from the bottom up, in the given height. */
export function layOutBars(calls, height) {
  const highest = Math.max(1, ...calls.map((call) => call.input + call.output));
  const scale = height / highest;
  return {
    highest,
    bars: calls.map((call) => {
      const parts = [
        ["cached", call.cached],
        ["input", call.input - call.cached],
        ["output", call.output],
      ];
      let y = height;
      return parts.map(([kind, tokens]) => {
        const size = tokens * scale;
        y -= size;
        return { kind, tokens, y, height: size };
      });
    }),
  };
}

/** Returns the element with the chart, its table and the states of the turns. */
export function usageChart(state) {
  if (state.calls.length === 0) return element("div", {}, emptyNote("No model has answered yet."), stageChart(state));
  const total = state.tokens;
  const calls = state.calls.slice(-SHOWN_CALLS);
  const height = HEIGHT - BOTTOM;
  const slot = Math.min(WIDEST_SLOT, (WIDTH - LEFT) / calls.length);
  const { highest, bars } = layOutBars(calls, height);
  const longest = Math.max(1, ...calls.map((call) => call.ms));
  const label = `${total.input} tokens in, of which ${total.cached} were cached, and ${total.output} out, in ${shownCount(total.calls, "call")}`;
  const picture = svgElement(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT + 64}`, class: "chart", role: "img", "aria-label": label },
    axis(highest, height),
    bars.map((parts, index) =>
      svgElement(
        "g",
        {},
        svgElement("title", {}, describe(calls[index])),
        parts.map((part) => svgElement("rect", { class: `bar-${part.kind}`, x: LEFT + index * slot + slot * 0.15, y: part.y, width: slot * 0.7, height: part.height })),
        svgElement("rect", { class: "bar-time", x: LEFT + index * slot + slot * 0.15, y: HEIGHT + 48 - (44 * calls[index].ms) / longest, width: slot * 0.7, height: (44 * calls[index].ms) / longest }),
      ),
    ),
    svgElement("text", { x: LEFT - 6, y: HEIGHT + 12, "text-anchor": "end" }, shownDuration(longest)),
    svgElement("text", { x: LEFT - 6, y: HEIGHT + 48, "text-anchor": "end" }, "time"),
    svgElement("line", { x1: LEFT, x2: WIDTH, y1: HEIGHT + 48, y2: HEIGHT + 48 }),
  );
  return element(
    "div",
    {},
    element("p", {}, label, ` · ${shownDuration(state.calls.reduce((sum, call) => sum + call.ms, 0))} in all`),
    element(
      "ul",
      { class: "legend" },
      [["cached", "cached input"], ["input", "evaluated input"], ["output", "output"], ["time", "time"]].map(([kind, text]) =>
        element("li", {}, element("span", { class: `swatch swatch-${kind}`, "aria-hidden": "true" }), text),
      ),
    ),
    picture,
    calls.length < state.calls.length ? element("p", { class: "empty" }, `The last ${SHOWN_CALLS} of ${state.calls.length} calls.`) : null,
    stageChart(state),
    element(
      "details",
      {},
      element("summary", {}, "The numbers"),
      table(
        ["turn", "model", "input", "cached", "output", "time"],
        state.calls.map((call) => [String(call.turn), shownLine(call.model, 60), String(call.input), String(call.cached), String(call.output), shownDuration(call.ms)]),
        "Tokens and time of each model call",
      ),
    ),
  );
}

function axis(highest, height) {
  return [0, 0.5, 1].map((part) => {
    const y = height - height * part;
    return [
      svgElement("line", { x1: LEFT, x2: WIDTH, y1: y, y2: y }),
      svgElement("text", { x: LEFT - 6, y: Math.max(10, y + 4), "text-anchor": "end" }, String(Math.round(highest * part))),
    ];
  });
}

const describe = (call) => `turn ${call.turn}: ${call.input} in (${call.cached} cached), ${call.output} out, ${shownDuration(call.ms)}`;

/** Returns the time in each state of the last turn that has states, as bars. */
function stageChart(state) {
  const turn = Math.max(-1, ...state.stages.map((stage) => stage.turn));
  const stages = state.stages.filter((stage) => stage.turn === turn);
  if (stages.length === 0) return null;
  const longest = Math.max(1, ...stages.map((stage) => stage.ms));
  const row = 20;
  return element(
    "section",
    {},
    element("h3", {}, `States of turn ${turn}`),
    svgElement(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${stages.length * row}`, class: "chart", role: "img", "aria-label": stages.map((stage) => `${stage.state} ${shownDuration(stage.ms)}`).join(", ") },
      stages.map((stage, index) => [
        svgElement("text", { x: 130, y: index * row + 14, "text-anchor": "end" }, shownLine(stage.state, 20)),
        svgElement("rect", { class: "bar-time", x: 136, y: index * row + 4, width: (stage.ms / longest) * 400, height: row - 8 }),
        svgElement("text", { x: 142 + (stage.ms / longest) * 400, y: index * row + 14 }, shownDuration(stage.ms)),
      ]),
    ),
  );
}
