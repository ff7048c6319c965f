// One attempt at a task: what its agent said, what was measured, and all it left behind.
"use strict";
(() => {
  const { el, report } = mngr;

  const box = (title, ...children) =>
    el("section", { class: "panel" }, el("h3", { class: "box-title", text: title }), el("div", { class: "box" }, ...children));

  const RESULTS = {
    clean: "Nothing needed a change.",
    fixed: "The test failed and passes now.",
    improved: "The test passed and is better now.",
    blocked: "The work could not be done.",
    escalated: "Others have to decide.",
  };

  const outcome = (said) =>
    box(
      "What the agent says",
      el("p", {}, el("strong", { text: said.result }), ` \u2013 ${RESULTS[said.result] || ""}`),
      mngr.markdown(said.summary_markdown),
      said.reason ? el("div", { class: "why-not" }, mngr.markdown(said.reason)) : null,
      said.changes.length
        ? report.table(
            ["Change", "What for"],
            said.changes.map(({ kind, summary_markdown }) => [report.kind(kind), mngr.markdown(summary_markdown)]),
          )
        : null,
      (said.tests_added || []).length
        ? report.table(
            ["Added test", "What it checks"],
            said.tests_added.map(({ test, purpose_markdown }) => [
              el("code", { text: test }),
              mngr.markdown(purpose_markdown),
            ]),
          )
        : null,
      said.test_runs.length
        ? report.table(
            ["Run", "What it showed"],
            said.test_runs.map(({ run_name, description_markdown }) => [
              el("code", { text: run_name }),
              mngr.markdown(description_markdown),
            ]),
          )
        : null,
      said.escalations.length
        ? el(
            "ul",
            { class: "escalations" },
            said.escalations.map(({ kind, severity, description_markdown: text, locations }) =>
              report.escalation({ kind, severity, text, locations }),
            ),
          )
        : null,
    );

  const WHAT = { before: "before", after: "after", mutation: "without the fix" };
  const measured = (list) =>
    box(
      "What was measured",
      report.table(
        ["Test", "Verdict", "Passed", "Runs"],
        list.map(({ what, verdict, passed, runs, each }) => [
          WHAT[what] || what,
          verdict.replaceAll("_", " "),
          runs ? `${passed}/${runs}` : "",
          each
            .map(({ exit, ms }) => `${exit === null ? "ended at its deadline" : `exit ${exit}`} (${mngr.duration(ms)})`)
            .join(", "),
        ]),
      ),
    );

  // Each mutant with who noticed it; its diff opens below.
  const strength = ({ text, why, mutants }) =>
    box(
      `Strength of the tests: ${text}`,
      why ? el("p", { text: why }) : null,
      ...mutants.map(({ path, line, rule, diff, before, after }) =>
        el(
          "details",
          { class: "mutant" },
          el("summary", {
            text: `${path}:${line} (${rule}): ${before || "not asked"} before, ${after || "not asked"} now`,
          }),
          el("pre", { text: diff }),
        ),
      ),
    );

  const commits = (list) =>
    box(
      "Commits",
      report.table(
        ["Commit", "Subject", "Says it is", "Is", "Paths"],
        list.map(({ hash, subject, claimed, measured: is, paths, paths_total }) => [
          report.hash(hash),
          subject,
          claimed ? report.kind(claimed) : "nothing",
          is
            ? el("span", {
                class: claimed && claimed !== is ? "lie" : null,
                text: report.kind(is) + (claimed && claimed !== is ? " \u2260" : ""),
              })
            : "mixed",
          el(
            "span",
            { class: "locations" },
            paths.slice(0, 12).map((path) => el("code", { text: path })),
            paths_total > 12 ? ` and ${paths_total - 12} more` : null,
          ),
        ]),
      ),
    );

  const screen = (lines) =>
    box(
      "The agent\u2019s last screen",
      el(
        "div",
        { class: "screen last-screen", tabindex: "0", role: "region", "aria-label": "The agent\u2019s last screen" },
        lines.map((runs) => el("div", { class: "screen-row" }, runs.map(mngr.run))),
      ),
    );

  // Something large, made when it is opened.
  const later = (title, make, isOpen) => {
    const inner = el("div", { class: "later-body" });
    const element = el(
      "details",
      { class: "panel later" },
      el("summary", { class: "run-head" }, el("h3", { text: title })),
      inner,
    );
    const open = () => element.open && !inner.firstChild && make(inner);
    element.addEventListener("toggle", open);
    element.open = isOpen;
    return element;
  };

  const WHO = { user: "to the agent", assistant: "agent", tool: "tool" };
  const message = ({ who, text, calls, tool, at, is_error, is_aside }) =>
    el(
      "li",
      { class: `said said-${who}` },
      el(
        "p",
        { class: "said-who" },
        el("strong", { text: tool ? `${WHO[who]} ${tool}` : WHO[who] || who }),
        is_error ? el("span", { class: "tag", text: "failed" }) : null,
        is_aside ? el("span", { class: "tag", text: "sub-agent" }) : null,
        el("span", { class: "soft", text: at ? mngr.when(Date.parse(at)) : "" }),
      ),
      text ? (who === "tool" ? el("pre", { class: "words", tabindex: "0", text }) : mngr.markdown(text)) : null,
      (calls || []).map(({ tool: name, input }) => el("pre", { class: "call", text: `${name} ${input}` })),
    );
  const conversation = async (inner, prefix) => {
    const list = el("ul", { class: "talk" });
    const more = el("button", { class: "control text-button", hidden: true });
    mngr.replace(inner, list, more);
    try {
      const { pieces, count } = await mngr.load(`${prefix}/map`);
      let next = 0;
      const add = async () => {
        const said = next < pieces ? await mngr.load(`${prefix}/${next++}`) : [];
        list.append(...said.map(message));
        more.hidden = next >= pieces;
        more.textContent = `Show more (${list.children.length} of ${count} shown)`;
      };
      more.addEventListener("click", add);
      await add();
      if (!count) mngr.replace(inner, el("p", { class: "sum", text: "Nothing was said." }));
    } catch {
      mngr.replace(inner, el("p", { class: "sum", text: "The conversation cannot be loaded." }));
    }
  };

  const problem = (thing, name) => el("p", { class: "sum", text: `${name}: ${thing.problem}` });

  // A folder with a transcript or recordings, through the player.
  const session = (of, open, index) => {
    const name = [of.run, of.name].filter(Boolean).join(" / ") || "what was published";
    const title = `${name}${of.status ? ` (${of.status})` : ""}`;
    const make = (inner) => {
      const recordings = of.recordings.filter(({ prefix }) => prefix);
      const evidence = mngr.evidence({ transcript: of.transcript?.prefix, recordings, version: "" });
      open.push(evidence);
      mngr.replace(
        inner,
        of.message ? el("pre", { class: "words", tabindex: "0", text: of.message }) : null,
        of.transcript?.problem ? problem(of.transcript, "Transcript") : null,
        of.recordings.filter((one) => one.problem).map((one) => problem(one, one.name)),
        evidence.element,
      );
    };
    return later(title, make, index === 0);
  };

  const files = ({ files, more_files, is_cut, artifacts }) =>
    files.length
      ? later(
          `Other files (${files.length + more_files})`,
          (inner) =>
            mngr.replace(
              inner,
              el("p", { class: "path", text: artifacts }),
              el(
                "ul",
                { class: "files" },
                files.map((file) => el("li", {}, el("code", { text: file }))),
              ),
              more_files || is_cut ? el("p", { class: "sum", text: "There are more." }) : null,
            ),
          false,
        )
      : null;

  // All an agent left; `open` gets what has to be closed.
  report.left = (left, open) =>
    !left
      ? []
      : [
          left.screen ? screen(left.screen) : null,
          left.sessions.length ? el("h3", { class: "sub", text: "Transcripts and recordings" }) : null,
          ...left.sessions.map((of, index) => session(of, open, index)),
          left.conversation?.problem ? problem(left.conversation, "Conversation") : null,
          left.conversation?.prefix
            ? later("Conversation", (inner) => conversation(inner, left.conversation.prefix), false)
            : null,
          files(left),
        ];

  const trail = (passages) =>
    el(
      "ol",
      { class: "trail" },
      passages.map(({ stage, at }, index) =>
        el(
          "li",
          {},
          el("span", { text: stage }),
          index + 1 < passages.length
            ? el("span", { class: "soft", text: ` ${mngr.duration(passages[index + 1].at - at)}` })
            : null,
        ),
      ),
    );

  report.attempt = (attempt, open) =>
    el(
      "div",
      { class: "attempt" },
      attempt.evidence ? el("p", { class: "attempt-evidence", text: attempt.evidence }) : null,
      el(
        "dl",
        { class: "facts" },
        report.fact("Agent", attempt.agent && el("code", { text: attempt.agent })),
        report.fact("Branch", attempt.branch && el("code", { text: attempt.branch })),
        report.fact("Host", attempt.host),
        report.fact("Tokens", report.tokens(attempt.tokens)),
        report.fact("Cost", report.cost(attempt.cost)),
      ),
      trail(attempt.passages),
      attempt.outcome ? outcome(attempt.outcome) : null,
      attempt.measured.length ? measured(attempt.measured) : null,
      attempt.strength && attempt.strength.text !== "-" ? strength(attempt.strength) : null,
      attempt.commits.length ? commits(attempt.commits) : null,
      report.left(attempt.left, open),
    );
})();
