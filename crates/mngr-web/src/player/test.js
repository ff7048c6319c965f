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

  const body = (brief, test) => {
    const players = [];
    const covering = (ms) => players.find((player) => player.momentOf(ms) !== null);
    const transcript = new mngr.Transcript(brief.key, test.version, {
      address: (row) => mngr.place.row(brief.run, brief.folder, row),
      covers: (ms) => Boolean(covering(ms)),
      seek: (ms) => {
        const player = covering(ms);
        player.pause();
        player.seek(player.momentOf(ms));
        player.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
        mngr.rename(mngr.place.moment(brief.run, brief.folder, player.name, player.momentOf(ms)));
      },
      onMap: (map) => {
        starts = map.commands.map((command) => command.row);
        commands.hidden = starts.length < 2;
      },
    });
    let starts = []; // The rows of the commands.
    const jump = (step) => {
      const rows = starts;
      const at = mngr.last(rows, (row) => row <= transcript.chosen);
      const next = rows[Math.min(rows.length - 1, Math.max(0, at + (step < 0 && rows[at] < transcript.chosen ? 0 : step)))];
      if (next === undefined) return;
      transcript.show(next);
      mngr.rename(mngr.place.row(brief.run, brief.folder, next));
    };
    const commands = el(
      "span",
      { class: "jump", hidden: true },
      el("button", {
        class: "control",
        text: "\u2191",
        "aria-label": "Previous command",
        title: "Previous command (k)",
        on: { click: () => jump(-1) },
      }),
      el("button", {
        class: "control",
        text: "\u2193",
        "aria-label": "Next command",
        title: "Next command (j)",
        on: { click: () => jump(1) },
      }),
    );
    test.recordings.forEach((name, index) =>
      players.push(new mngr.Player(test, index, name, { onMoment: (ms) => transcript.showMoment(ms) })),
    );
    // Which rows have a moment in a recording is known only now.
    Promise.all(players.map((player) => player.ready)).then(() => transcript.repaint());
    const save =
      mngr.isServed && test.has_transcript
        ? el("a", { class: "quiet", href: `raw/${brief.key}/transcript.txt`, text: "Save", "aria-label": "Save the transcript" })
        : null;
    const element = el(
      "div",
      { class: `evidence${players.length ? " with-players" : ""}` },
      el(
        "section",
        { class: "panel", "aria-label": "Transcript" },
        el("div", { class: "panel-head" }, el("h2", { text: "Transcript" }), commands, save),
        transcript.element,
      ),
      players.length
        ? el(
            "section",
            { class: "players", "aria-label": "Recordings" },
            el("h2", { class: "unseen", text: mngr.count(players.length, "recording") }),
            players.map((player) => player.element),
          )
        : null,
    );
    return { transcript, players, jump, element };
  };

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
      shown.transcript.close();
      shown.players.forEach((player) => player.close());
      shown = null;
    },
    jump: (step) => shown?.jump(step),
    player: () => shown?.players[0],
    step: (label) => document.querySelector(`[data-step=${label}]`)?.click(),
  };
})();
