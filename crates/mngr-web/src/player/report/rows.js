// The tasks under their headings, a line or two each, and the filter over them.
"use strict";
(() => {
  const { el, report } = mngr;
  const lines = []; // {element, text, section}

  const yes = (value) => (value === true ? "passes" : value === false ? "fails" : "not said");
  const share = (measured) =>
    !measured
      ? null
      : measured.verdict === "not_measurable"
        ? "not measurable"
        : measured.runs
          ? `${measured.passed}/${measured.runs} passed`
          : measured.verdict;

  // What the agent said beside what was seen; where they differ, in words.
  const differs = (claim, measured) =>
    claim !== null && claim !== undefined && measured && ["passed", "failed"].includes(measured.verdict)
      ? claim !== (measured.verdict === "passed")
      : claim === true && measured?.verdict === "flaky";
  report.proof = ({ claimed, measured }) => {
    const line = (name, claim, seen) => {
      const found = share(seen);
      if (!found && (claim === null || claim === undefined)) return null;
      const isLie = differs(claim, seen);
      return el(
        "div",
        { class: `proof${isLie ? " lie" : ""}` },
        el("span", { class: "proof-name", text: name }),
        el("span", { class: "proof-seen", text: found || "not measured" }),
        claim === undefined ? null : el("span", { class: "proof-claim", text: `said: ${yes(claim)}${isLie ? " \u2260" : ""}` }),
      );
    };
    const mutation = measured?.mutation;
    return el(
      "div",
      { class: "proofs" },
      line("before", claimed?.before, measured?.before),
      line("after", claimed?.after, measured?.after),
      mutation
        ? el(
            "div",
            { class: "proof" },
            el("span", { class: "proof-name", text: "without fix" }),
            el("span", { class: "proof-seen", text: share(mutation) }),
            el("span", { class: "proof-claim", text: mutation.verdict === "failed" ? "the test notices" : "" }),
          )
        : null,
    );
  };

  const STATES = {
    in: ["\u2713", "part of the result"],
    review: ["\u270e", "needs review"],
    out: ["\u2717", "not part of the result"],
    open: ["\u2026", "not decided"],
  };
  report.changes = (changes) =>
    changes.map(({ kind, claimed, measured, state }) => {
      const [sign, says] = STATES[state];
      const doubt = claimed && !measured ? "said only" : measured && !claimed ? "not said" : null;
      return el(
        "span",
        { class: `change c-${state}`, title: [says, doubt && `kind ${doubt}`].filter(Boolean).join(", ") },
        el("span", { "aria-hidden": "true", text: sign }),
        el("span", { class: "unseen", text: `${says}: ` }),
        report.kind(kind),
        doubt && state !== "open" ? el("span", { class: "doubt", text: ` (${doubt})` }) : null,
      );
    });

  report.merged = ({ picked, squashed, review, reasons, dropped, reason }) => [
    ...picked.map((commit) => el("div", {}, "commit ", report.hash(commit))),
    squashed ? el("div", {}, "squashed into ", report.hash(squashed)) : null,
    review ? el("div", {}, "review commit ", report.hash(review)) : null,
    ...(reasons || []).map((text) => el("div", { class: "why-not", text })),
    ...dropped.map((commit) => el("div", {}, "dropped ", report.hash(commit))),
    reason ? el("div", { class: "why-not", text: reason }) : null,
  ];

  const row = (task) => {
    const figures = [
      task.ms === null ? null : ["agent time", mngr.duration(task.ms)],
      task.tokens === null ? null : ["tokens", `${report.tokens(task.tokens)} tokens`],
      task.cost === null ? null : ["cost", report.cost(task.cost)],
      task.attempts > 1 ? ["attempts", `${task.attempts} attempts`] : null,
    ].filter(Boolean);
    const says = task.section === "blocked" && task.reason ? task.reason : task.summary;
    return el(
      "li",
      { class: "task", "data-slug": task.slug },
      el(
        "div",
        { class: "task-what" },
        el("a", { class: "task-id", href: report.address(task.slug), text: task.id }),
        el("div", { class: "task-stage" }, report.stage(task.stage, task.kind)),
        task.agent ? el("div", { class: "task-names" }, el("span", { class: "unseen", text: "agent " }), task.agent) : null,
        task.branch ? el("div", { class: "task-names" }, el("span", { class: "unseen", text: "branch " }), task.branch) : null,
      ),
      el(
        "div",
        { class: "task-changes" },
        report.changes(task.changes),
        task.section === "running" || task.section === "clean" ? null : report.merged(task.merged),
      ),
      report.proof(task),
      el(
        "div",
        { class: "task-figures" },
        figures.map(([name, text]) => el("div", { title: name, text })),
      ),
      says ? el("div", { class: "task-says" }, mngr.markdown(says)) : evidence(task),
    );
  };
  const evidence = (task) =>
    task.evidence && task.evidence !== task.merged.reason
      ? el("p", { class: "task-says task-evidence", text: task.evidence })
      : null;

  const HINT = (folder) => [
    "Look at what the agent saw: ",
    "mngr connect AGENT",
    "Tell it what it missed and ask it to publish again: ",
    "mngr message AGENT",
    "Take in what it published then: ",
    `mngr tmr reintegrate ${folder}`,
  ];
  const hint = () => {
    const [a, connect, b, message, c, again] = HINT(report.data.folder);
    return el(
      "ol",
      { class: "hint-steps" },
      el("li", {}, a, el("code", { text: connect })),
      el("li", {}, b, el("code", { text: message })),
      el("li", {}, c, el("code", { text: again })),
    );
  };

  // All sections, in order. The filter knows what it says of each line.
  report.sections = () => {
    const { sections, rows, integration } = report.data;
    lines.length = 0;
    const places = new Map((integration?.commits || []).flatMap(({ tasks }, at) => tasks.map((slug) => [slug, at])));
    return sections
      .filter(({ count }) => count)
      .map(({ name, count, tokens, cost }) => {
        const own = rows.filter((task) => task.section === name);
        // As the result has them.
        if (name === "implementation") own.sort((a, b) => (places.get(a.slug) ?? 1e9) - (places.get(b.slug) ?? 1e9));
        const items = own.map((task) => {
          const element = row(task);
          lines.push({ element, section: name, text: textOf(task) });
          return element;
        });
        const sums = [tokens ? `${report.tokens(tokens)} tokens` : null, cost ? report.cost(cost) : null].filter(Boolean);
        return report.part(
          name,
          report.sectionTitle(name),
          el("p", {
            class: "sum",
            text: [mngr.count(count, "task"), ...sums].join(" \u00b7 ") + ". " + report.SECTIONS[name][1],
          }),
          name === "unresolved" ? hint() : null,
          el("ul", { class: "tasks" }, items),
        );
      });
  };

  const textOf = (task) =>
    [task.id, task.agent, task.branch, task.stage, task.kind, task.summary, task.reason, task.evidence, task.merged.reason]
      .concat(task.merged.reasons || [])
      .concat(task.changes.map(({ kind }) => kind))
      .filter(Boolean)
      .join("\n")
      .toLowerCase();

  // Shows only the tasks with these words; how many there are.
  report.filter = (words) => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = new Map();
    for (const { element, section, text } of lines) {
      const is = wanted.every((word) => text.includes(word));
      element.hidden = !is;
      found.set(section, (found.get(section) || 0) + Number(is));
    }
    for (const [section, count] of found) document.getElementById(`part-${section}`).hidden = !count;
    return [...found.values()].reduce((sum, count) => sum + count, 0);
  };
  report.shown = () => lines.filter(({ element }) => !element.hidden).map(({ element }) => element.dataset.slug);
})();
