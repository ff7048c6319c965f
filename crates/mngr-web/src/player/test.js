// One test: what it says of itself, its message, its transcript and its recordings side by side.
"use strict";
(() => {
  const { el } = mngr;
  let shown = null; // {brief, transcript, players}

  const fact = (name, value) => (value ? el("div", {}, el("dt", { text: name }), el("dd", {}, value)) : null);

  const box = (title, text, kind) =>
    el("section", { class: `panel ${kind}` }, el("h2", { text: title }), el("pre", { class: "words", tabindex: "0", text }));

  const tries = (brief, compare) => {
    const others = mngr.runs.tries(brief);
    if (others.length < 2) return null;
    const can = (other) => other.key !== brief.key && (compare === "any" || compare.includes(other.key));
    return el(
      "section",
      { class: "panel tries" },
      el("h2", { text: `${others.length} tries` }),
      el(
        "ul",
        { class: "try-list" },
        others
          .slice(0, 12)
          .map((other) =>
            el(
              "li",
              { class: other.key === brief.key ? "here" : null },
              el(
                "a",
                { href: mngr.place.test(other.run, other.folder) },
                mngr.status(other.status),
                el("span", { class: "try-run", text: other.run + (other.try > 1 ? ` (try ${other.try})` : "") }),
              ),
              el("span", { class: "try-time", text: mngr.duration(other.ms) }),
              other.key === brief.key
                ? el("span", { class: "quiet", text: "this one" })
                : can(other)
                  ? el("a", { class: "quiet", href: mngr.place.compare(brief.key, other.key), text: "Compare" })
                  : null,
            ),
          ),
      ),
    );
  };

  const head = (brief, test) => {
    const { record } = test;
    const place = record ? record.file + (record.line ? `:${record.line}` : "") : null;
    const neighbours = mngr.runs.list().find((run) => run.name === brief.run)?.tests || [];
    const at = neighbours.findIndex((other) => other.key === brief.key);
    const step = (other, text, label) =>
      other
        ? el("a", {
            class: "step",
            href: mngr.place.test(other.run, other.folder),
            "aria-label": `${label} test: ${other.name}`,
            "data-step": label,
            text,
          })
        : el("span", { class: "step off", "aria-hidden": "true", text });
    return [
      el(
        "nav",
        { class: "crumbs", "aria-label": "Where you are" },
        el("a", { href: mngr.place.list(), text: "All runs" }),
        " / ",
        el("span", { text: brief.run }),
        el(
          "span",
          { class: "steps" },
          step(neighbours[at - 1], "\u2190", "previous"),
          step(neighbours[at + 1], "\u2192", "next"),
        ),
      ),
      el("div", { class: "test-title" }, el("h1", { text: brief.name }), mngr.status(test.status)),
      el(
        "dl",
        { class: "facts" },
        fact("Took", mngr.duration(record?.duration_ms)),
        fact("Started", mngr.when(brief.started_ms)),
        fact("Where", place && el("code", { text: place })),
        fact("Try", brief.try > 1 ? String(brief.try) : null),
        fact("Environment kept", record?.environment && el("code", { text: record.environment })),
        fact("Enter it with", test.can_reenter ? el("code", { text: `${test.folder}/reenter` }) : null),
      ),
      record?.message
        ? box(test.status === "skipped" ? "Why it was skipped" : "Why it failed", record.message, `message s-${test.status}`)
        : null,
      el(
        "div",
        { class: "panels" },
        record?.blocks.map((block) => box(block.title || "Tutorial block", block.text, "block")),
        record?.docstring ? box("Docstring", record.docstring, "doc") : null,
        test.text ? box("What it says of itself", test.text, "doc") : null,
        tries(brief, test.compare),
      ),
    ];
  };

  const body = (brief, test) =>
    mngr.evidence({
      transcript: `test/${brief.key}/rows`,
      recordings: test.recordings.map((name, index) => ({
        name,
        prefix: `test/${brief.key}/cast${index}`,
        raw: `raw/${brief.key}/${encodeURIComponent(name)}`,
      })),
      version: test.version,
      raw: test.has_transcript ? `raw/${brief.key}/transcript.txt` : null,
      row: (row) => mngr.place.row(brief.run, brief.folder, row),
      moment: (name, ms) => mngr.place.moment(brief.run, brief.folder, name, ms),
    });

  const goTo = async ({ row, cast, ms }) => {
    if (row !== undefined) {
      await shown.transcript.ready;
      shown?.transcript.show(row);
    } else if (cast) {
      const player = shown.players.find((player) => player.name === cast);
      await player?.ready;
      await player?.seek(ms);
      player?.element.scrollIntoView({ block: "nearest" });
    }
  };

  mngr.test = {
    show: async (main, place, isCurrent) => {
      const brief = mngr.runs.find(place.run, place.folder);
      if (shown && brief && shown.brief.key === brief.key && shown.version === brief.version) return goTo(place);
      if (!brief) {
        mngr.test.close();
        mngr.replace(
          main,
          el("p", { class: "nothing", text: mngr.runs.isComplete ? "There is no such test here." : "Loading\u2026" }),
          el("p", {}, el("a", { href: mngr.place.list(), text: "All runs" })),
        );
        return;
      }
      const test = await mngr.load(`test/${brief.key}/test`, brief.version).catch(() => null);
      if (!isCurrent() || !test) return;
      document.title = `${brief.name} (${test.status}) \u00b7 mngr view`;
      if (shown && shown.brief.key === brief.key && shown.players.length === test.recordings.length) {
        // It has gone on: what the viewer looks at stays where it is.
        Object.assign(shown, { brief, version: brief.version });
        mngr.replace(shown.head, head(brief, test));
        shown.players.forEach((player) => (player.version = brief.version));
        return void shown.transcript.update(brief.version);
      }
      mngr.test.close();
      const evidence = body(brief, test);
      shown = { brief, version: brief.version, head: el("div", { class: "test-head" }, head(brief, test)), ...evidence };
      mngr.replace(main, shown.head, evidence.element);
      scrollTo(0, 0);
      await goTo(place);
    },
    close: () => {
      if (!shown) return;
      shown.close();
      shown = null;
    },
    jump: (step) => shown?.jump(step),
    player: () => shown?.players[0],
    step: (label) => document.querySelector(`[data-step=${label}]`)?.click(),
  };
})();
