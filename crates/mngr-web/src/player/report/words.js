// The words and small parts that all of a report shares.
"use strict";
(() => {
  const { el } = mngr;
  const report = { data: null, bySlug: new Map() };
  mngr.report = report;

  report.SECTIONS = {
    non_implementation: ["Non-implementation fixes", "Tests or docs were changed, and the change is part of the result."],
    implementation: ["Implementation fixes", "The program was changed, and the change is part of the result."],
    needs_review: ["Needs review", "The change holds, and a person has to look at it first: it is on the review branch."],
    unresolved: ["Unresolved", "Nobody found a way to put it right."],
    blocked: ["Blocked", "The agent said what keeps it from going on."],
    failed: ["Failed", "No result, or one that did not hold."],
    passes_on_result: ["Passes on the result", "The agent failed, and the test passes on the result all the same."],
    clean: ["Clean pass", "The test passes and needs no change."],
    running: ["Running", "No end yet."],
  };
  report.sectionTitle = (name) => (name === "running" && report.data.ended ? "Not finished" : report.SECTIONS[name][0]);

  const LOOKS = {
    integrated: ["passed", "\u2713"],
    clean: ["passed", "\u2713"],
    needs_review: ["error", "\u270e"],
    passes_on_result: ["passed", "\u2713"],
    unresolved: ["error", "?"],
    blocked: ["error", "!"],
    failed: ["failed", "\u2717"],
  };
  // A stage has a sign and a word, so that it is clear without colour.
  report.stage = (stage, kind) => {
    const [look, sign] = LOOKS[stage] || ["running", "\u2026"];
    return el(
      "span",
      { class: `status s-${look}` },
      el("span", { class: "sign", "aria-hidden": "true", text: sign }),
      (kind ? `${stage}: ${kind}` : stage).replaceAll("_", " "),
    );
  };

  report.tokens = (number) => {
    if (number === null || number === undefined) return "";
    if (number < 1000) return String(number);
    return number < 1e6 ? `${(number / 1000).toFixed(1)} k` : `${(number / 1e6).toFixed(2)} M`;
  };
  report.cost = (dollars) => (dollars === null || dollars === undefined ? "" : `$${dollars.toFixed(dollars < 1 ? 3 : 2)}`);
  report.hash = (commit) => el("code", { class: "hash", title: commit, text: commit.slice(0, 10) });
  report.kind = (kind) => kind.toLowerCase().replaceAll("_", " ");

  report.address = (slug) => `#task=${slug}`;
  report.link = (slug, text) => {
    const row = report.bySlug.get(slug);
    return el("a", { href: report.address(slug), title: row?.id, text: text || (row ? short(row.id) : slug) });
  };
  const short = (id) => id.split("::").pop() || id;

  // Links to tasks: some, and the rest when they are wanted.
  report.links = (slugs, first = 6) => {
    const list = el("span", { class: "links" });
    const fill = (count) =>
      mngr.replace(
        list,
        slugs.slice(0, count).map((slug) => report.link(slug)),
        slugs.length > count
          ? el("button", {
              class: "quiet",
              text: `${slugs.length - count} more`,
              on: { click: () => fill(slugs.length) },
            })
          : null,
      );
    fill(first);
    return list;
  };

  // A command, and a button that copies it.
  report.command = (says, command) => {
    const code = el("code", { text: command });
    const button = el("button", {
      class: "control copy",
      text: "Copy",
      "aria-label": `Copy: ${says}`,
      on: {
        click: async () => {
          try {
            await navigator.clipboard.writeText(command);
            button.textContent = "Copied";
            setTimeout(() => (button.textContent = "Copy"), 1500);
          } catch {
            // Not allowed: it is selected, so that it can be copied by hand.
            getSelection().selectAllChildren(code);
          }
        },
      },
    });
    return el("div", { class: "command" }, el("span", { class: "command-says", text: says }), code, button);
  };

  report.fact = (name, value) =>
    value === null || value === undefined || value === "" ? null : el("div", {}, el("dt", { text: name }), el("dd", {}, value));

  report.part = (id, title, ...children) =>
    el(
      "section",
      { id: `part-${id}`, class: "part-block", "data-part": id, "data-title": title },
      el("h2", { text: title }),
      ...children,
    );

  report.table = (heads, rows) =>
    el(
      "div",
      { class: "table-box", tabindex: "0" },
      el(
        "table",
        { class: "table" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            heads.map((text) => el("th", { scope: "col", text })),
          ),
        ),
        el(
          "tbody",
          {},
          rows.map((cells) =>
            el(
              "tr",
              {},
              cells.map((cell) => el("td", {}, cell ?? "")),
            ),
          ),
        ),
      ),
    );
})();
